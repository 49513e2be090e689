import type { ImageReference } from '../images/references-store.ts';
import { type DocumentPath, KNOWN_FIELDS, PARTS, type ProductBody } from './schemas.ts';
import type { Content } from './store.ts';

/**
 * The content of a product after a change. Omitted fields stay unchanged, in the product and in its parts; null
 * clears (`readBodies` turns an empty text into null); lists, and values nested deeper than a part's own fields, are
 * replaced as a whole. Unknown fields of a part are stored as sent.
 */
export function mergeContent(content: Content, body: ProductBody): Content {
  const sent = PARTS.map(part => [part, body[part]] as const).filter(([, value]) => value !== undefined);
  const merged = sent.map(([part, value]) => {
    const known = KNOWN_FIELDS.get(part);
    return [part, known && value ? mergeFields(content[part], value, known) : value] as const;
  });
  return fromEntries(
    [...Object.entries(content), ...merged].filter(([part]) => body[part as 'photo'] !== null),
  );
}

function mergeFields(before: unknown, sent: unknown, known: readonly string[]): object {
  const changed = Object.entries(sent as object);
  const cleared = changed
    .filter(([name, value]) => value === null && known.includes(name))
    .map(([name]) => name);
  const all = [...Object.entries((before ?? {}) as object), ...changed];
  return fromEntries(all.filter(([name]) => !cleared.includes(name)));
}

/** An object of these fields, with any names; the last field of a name wins. */
function fromEntries(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries);
}

/** A reference to an image or document in a product. */
export type SentDocument = Record<string, unknown> & { storageKey?: string | null };

/** The fields of a product that refer to images and documents; a missing one does not compile. */
const DOCUMENTS: Record<DocumentPath, { kind?: 'image' }> = {
  photo: { kind: 'image' },
  'settings.incomeIncreaseDocument': {},
};
const PLACES = Object.entries(DOCUMENTS).map(([path, expected]) => {
  const [part = path, field] = path.split('.');
  return { path, part, field, expected };
});

export function photoOf({ photo }: Content): SentDocument | undefined {
  return photo as SentDocument | undefined;
}

/** The images and documents of a product, with their fields. */
export function imagesOf(content: Content): ImageReference[] {
  return PLACES.flatMap(({ path, part, field, expected }) => {
    const storageKey = documentIn(content[part], field)?.storageKey;
    return storageKey ? [{ field: `${path}.storageKey`, storageKey, ...expected }] : [];
  });
}

/** The same content with each image and document as `describe` gives it. */
export function withDocuments(content: Content, describe: (sent: SentDocument) => object): Content {
  const described = { ...content };
  for (const { part, field } of PLACES) {
    const sent = documentIn(content[part], field);
    if (!sent) continue;
    described[part] =
      field === undefined ? describe(sent) : { ...(described[part] as object), [field]: describe(sent) };
  }
  return described;
}

/** The image or document in a part or in one of its fields. */
function documentIn(part: unknown, field: string | undefined): SentDocument | undefined {
  const found = field === undefined ? part : (part as Content | undefined)?.[field];
  return (found ?? undefined) as SentDocument | undefined;
}
