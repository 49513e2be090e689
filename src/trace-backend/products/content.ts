import type { NamedImage } from '../images/uses-store.ts';
import { KNOWN_FIELDS, PARTS, type ProductBody } from './schemas.ts';
import type { Content } from './store.ts';

/**
 * What a product consists of after a change. What is left out stays, in the product and in its parts; null, as
 * `readBodies` makes it of an empty text, clears; lists, and what stands deeper than a part's own fields, are replaced as a whole. Fields of a part that we do not know
 * are kept as they come.
 */
export function mergeContent(content: Content, body: ProductBody): Content {
  const sent = PARTS.map(part => [part, body[part]] as const).filter(([, value]) => value !== undefined);
  const merged = sent.map(([part, value]) => {
    const known = KNOWN_FIELDS[part];
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

/** An object of these fields, whatever they are called; of fields with one name the last counts. */
function fromEntries(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries);
}

/** An image or document as a product names it. */
export type SentDocument = Record<string, unknown> & { storageKey?: string | null };

export function photoOf({ photo }: Content): SentDocument | undefined {
  return photo as SentDocument | undefined;
}

export function documentOf({ settings }: Content): SentDocument | undefined {
  const { incomeIncreaseDocument } = (settings ?? {}) as { incomeIncreaseDocument?: SentDocument };
  return incomeIncreaseDocument;
}

/** The images and documents that a product carries, with the fields that name them. */
export function imagesOf(content: Content): NamedImage[] {
  const photo = photoOf(content)?.storageKey;
  const document = documentOf(content)?.storageKey;
  const images: NamedImage[] = [];
  if (photo) images.push({ field: 'photo.storageKey', storageKey: photo, kind: 'image' });
  if (document) images.push({ field: 'settings.incomeIncreaseDocument.storageKey', storageKey: document });
  return images;
}
