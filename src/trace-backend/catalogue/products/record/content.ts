import { withoutUnset } from '../../../base/contract/shapes.ts';
import type { ImageReference } from '../../images/references-store.ts';
import { type DocumentPath, KNOWN_FIELDS, PARTS, Parts, READ_ONLY_FIELDS } from './parts.ts';
import type { Content } from './store.ts';

/**
 * The content of a product after a change. Omitted fields stay unchanged, in the product and in its parts; null
 * clears (`readBodies` turns an empty text into null); lists, and values nested deeper than a part's own fields, are
 * replaced as a whole. Unknown fields of a part are stored as sent.
 */
export function mergeContent(content: Content, body: Parts): Content {
  const sent = PARTS.map(part => [part, body[part]] as const).filter(([, value]) => value !== undefined);
  const merged = sent.map(([part, value]) => {
    const fields = KNOWN_FIELDS.get(part);
    return [
      part,
      fields && value ? mergeFields(content[part], withoutReadOnly(part, value), fields) : value,
    ] as const;
  });
  const after = fromEntries(
    [...Object.entries(content), ...merged].filter(([part]) => body[part as 'photo'] !== null),
  );
  return withAgreementIds(withoutDefaults(withoutUnset(after, Parts)));
}

/** A sent part without its read-only fields. */
function withoutReadOnly(part: string, sent: unknown): object {
  const readOnly = READ_ONLY_FIELDS.get(part) ?? [];
  return fromEntries(Object.entries(sent as object).filter(([name]) => !readOnly.includes(name)));
}

/** Answers contain these parts even if they are empty, so that clients send them back. */
const ALWAYS_PRESENT = ['origin', 'settings', 'businessToCustomerSettings'];

/** Content in the form of answers: see `withoutDefaults`. */
export function withDefaults(stored: Content): Content {
  // Older versions stored unset fields as null.
  const content = withoutUnset(stored, Parts);
  const present = fromEntries(ALWAYS_PRESENT.map(part => [part, content[part] ?? {}]));
  return {
    ...content,
    ...present,
    settings: { pricingTransparency: {}, ...(present.settings as object) },
  };
}

/** Content without the defaults that answers add, so that sending a product back changes nothing. */
function withoutDefaults(content: Content): Content {
  const { settings } = content as { settings?: { pricingTransparency?: object } };
  const { pricingTransparency, ...others } = settings ?? {};
  const hasPrices = pricingTransparency !== undefined && Object.keys(pricingTransparency).length > 0;
  const stored = hasPrices ? settings : others;
  const all = settings === undefined ? content : { ...content, settings: stored };
  return fromEntries(
    Object.entries(all).filter(
      ([part, value]) => !ALWAYS_PRESENT.includes(part) || Object.keys(value as object).length > 0,
    ),
  );
}

type Agreement = Record<string, unknown> & { id?: number | null; document?: SentDocument | null };

/** Gives data sharing agreements ids that are unique within their product; existing ids stay. */
function withAgreementIds(content: Content): Content {
  const agreements = content.dataSharingAgreements as Agreement[] | undefined;
  if (!agreements) return content;
  let last = Math.max(0, ...agreements.map(({ id }) => id ?? 0));
  const used = new Set<number>();
  const numbered = agreements.map(({ id, ...rest }) => {
    const unique = id != null && id > 0 && !used.has(id) ? id : ++last;
    used.add(unique);
    return { id: unique, ...rest };
  });
  return { ...content, dataSharingAgreements: numbered };
}

function mergeFields(before: unknown, sent: unknown, knownFields: readonly string[]): object {
  const changed = Object.entries(sent as object);
  const cleared = changed
    .filter(([name, value]) => value === null && knownFields.includes(name))
    .map(([name]) => name);
  const all = [...Object.entries((before ?? {}) as object), ...changed];
  return fromEntries(all.filter(([name]) => !cleared.includes(name)));
}

/** An object of these fields; the last field of each name wins. */
function fromEntries(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries);
}

/** A reference to an image or document in a product. */
export type SentDocument = Record<string, unknown> & { storageKey?: string | null };

/** The fields of a product that refer to images and documents; a missing one does not compile. */
const DOCUMENTS: Record<DocumentPath, { kind?: 'image' }> = {
  photo: { kind: 'image' },
  'settings.incomeIncreaseDocument': {},
  'businessToCustomerSettings.productFont': {},
  'businessToCustomerSettings.textFont': {},
  'businessToCustomerSettings.landingPageImage': {},
  'businessToCustomerSettings.landingPageBackgroundImage': {},
  'businessToCustomerSettings.headerBackgroundImage': {},
};
const DOCUMENT_FIELDS = Object.entries(DOCUMENTS).map(([path, expected]) => {
  const [part = path, field] = path.split('.');
  return { path, part, field, expected };
});

export function photoOf({ photo }: Content): SentDocument | undefined {
  return photo as SentDocument | undefined;
}

/** The images and documents of a product, with their fields. */
export function imagesOf(content: Content): ImageReference[] {
  const single = DOCUMENT_FIELDS.flatMap(({ path, part, field, expected }) => {
    const storageKey = documentIn(content[part], field)?.storageKey;
    return storageKey ? [{ field: `${path}.storageKey`, storageKey, ...expected }] : [];
  });
  const listed = agreementsOf(content).flatMap(({ document }, index) => {
    const field = `dataSharingAgreements.${index}.document.storageKey`;
    return document?.storageKey ? [{ field, storageKey: document.storageKey }] : [];
  });
  return [...single, ...listed];
}

function agreementsOf({ dataSharingAgreements }: Content): Agreement[] {
  return (dataSharingAgreements as Agreement[] | undefined) ?? [];
}

/** Content with each image and document replaced by the result of `describe`. */
export function withDocuments(content: Content, describe: (sent: SentDocument) => object): Content {
  const described = { ...content };
  for (const { part, field } of DOCUMENT_FIELDS) {
    const sent = documentIn(content[part], field);
    if (!sent) continue;
    described[part] =
      field === undefined ? describe(sent) : { ...(described[part] as object), [field]: describe(sent) };
  }
  if (content.dataSharingAgreements === undefined) return described;
  const dataSharingAgreements = agreementsOf(content).map(({ document, ...rest }) => ({
    ...rest,
    ...(document && { document: describe(document) }),
  }));
  return { ...described, dataSharingAgreements };
}

/** The image or document in a part or in one of its fields. */
function documentIn(part: unknown, field: string | undefined): SentDocument | undefined {
  const found = field === undefined ? part : (part as Content | undefined)?.[field];
  return (found ?? undefined) as SentDocument | undefined;
}
