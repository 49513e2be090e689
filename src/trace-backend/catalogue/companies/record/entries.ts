import { idOf } from '../../../base/contract/schemas.ts';
import type { ImageReference } from '../../images/references-store.ts';
import type { DOCUMENT_CATEGORIES, DOCUMENT_TYPES, SentProfile } from './profile-schemas.ts';

/** A document that a company presents; unset fields are absent. */
export interface CompanyDocument {
  id: number;
  type?: (typeof DOCUMENT_TYPES)[number];
  category?: (typeof DOCUMENT_CATEGORIES)[number];
  name?: string;
  description?: string;
  quote?: string;
  link?: string;
  /** storage key */
  document?: string;
}

export interface Certification {
  id: number;
  type?: string;
  description?: string;
  validity?: string;
  /** storage key */
  certificate?: string;
}

/** The lists of a company. */
export interface Entries {
  documents: CompanyDocument[];
  certifications: Certification[];
}

type SentEntry = { id?: number | string | null } & Record<string, unknown>;

/**
 * The lists of a company after a change: those sent, or the previous ones; null empties a list. An entry with the id of a
 * previous entry replaces it; others are new.
 *
 * @param newIds returns ids for a number of new entries
 */
export async function entriesAfter(
  before: Entries,
  { documents, certifications }: Pick<SentProfile, 'documents' | 'certifications'>,
  newIds: (count: number) => Promise<number[]>,
): Promise<Entries> {
  return {
    documents:
      documents === undefined
        ? before.documents
        : await mergeEntries<CompanyDocument>(before.documents, documents ?? [], 'document', newIds),
    certifications:
      certifications === undefined
        ? before.certifications
        : await mergeEntries<Certification>(
            before.certifications,
            certifications ?? [],
            'certificate',
            newIds,
          ),
  };
}

/** @param file the field with the file */
async function mergeEntries<Entry extends { id: number }>(
  before: readonly Entry[],
  sent: readonly SentEntry[],
  file: 'document' | 'certificate',
  newIds: (count: number) => Promise<number[]>,
): Promise<Entry[]> {
  const unclaimed = new Set(before.map(({ id }) => id));
  const keptIds = sent.map(({ id }) => (id == null || !unclaimed.delete(idOf(id)) ? undefined : idOf(id)));
  const freshIds = await newIds(keptIds.filter(id => id === undefined).length);
  return sent.map((entry, index) => {
    const fields = Object.entries(entry).filter(([name, value]) => FIELDS[file].has(name) && value != null);
    const { storageKey } = (entry[file] ?? {}) as { storageKey?: string };
    const stored = storageKey === undefined ? {} : { [file]: storageKey.toLowerCase() };
    return { ...Object.fromEntries(fields), ...stored, id: keptIds[index] ?? freshIds.shift() } as Entry;
  });
}

/** The fields of an entry of each kind, without its id and file. */
const FIELDS = {
  document: new Set(['type', 'category', 'name', 'description', 'quote', 'link']),
  certificate: new Set(['type', 'description', 'validity']),
};

/** The images and documents that a company refers to, with their fields. */
export function filesOf({
  logo,
  documents,
  certifications,
}: Entries & { logo: string | null }): ImageReference[] {
  const file = (field: string, storageKey: string | undefined) =>
    storageKey === undefined ? [] : [{ field: `${field}.storageKey`, storageKey }];
  return [
    ...file('logo', logo ?? undefined).map(reference => ({ ...reference, kind: 'image' as const })),
    ...documents.flatMap(({ document }, index) => file(`documents.${index}.document`, document)),
    ...certifications.flatMap(({ certificate }, index) =>
      file(`certifications.${index}.certificate`, certificate),
    ),
  ];
}
