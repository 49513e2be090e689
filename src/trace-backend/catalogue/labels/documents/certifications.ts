import type { Database } from '../../../../platform/database/database.ts';
import { findCompany } from '../../companies/record/store.ts';
import { showsField } from '../../products/labels/store.ts';
import { profileOf } from '../../products/partners/owner.ts';
import type { Product } from '../../products/record/store.ts';
import type { ShownCertification } from './schemas.ts';

/** The field of a label that shows the certifications of the owner. */
export const CERTIFICATIONS = 'company.certifications';

/** The certifications of a product's owner that are still valid. */
export async function validCertifications(
  database: Database,
  { companyId }: Pick<Product, 'companyId'>,
): Promise<ShownCertification[]> {
  const company = companyId === null ? undefined : await findCompany(database, companyId);
  if (!company) return [];
  const profile = (await profileOf(database, company)) as { certifications: ShownCertification[] };
  const today = new Date().toISOString().slice(0, 10);
  return profile.certifications.filter(({ validity }) => (dayOf(validity) ?? today) >= today);
}

/** The day of a validity; undefined for texts that are not dates, which cannot be compared. */
export function dayOf(validity: string | null | undefined): string | undefined {
  return /^\d{4}-\d{2}-\d{2}(?![^T])/.exec(validity ?? '')?.[0];
}

/** Whether a published label shows one of these companies' certificates with this storage key. */
export async function isShownCertificate(
  database: Database,
  companyIds: readonly number[],
  storageKey: string,
): Promise<boolean> {
  for (const companyId of companyIds) {
    const certifications = await validCertifications(database, { companyId });
    const hasKey = certifications.some(
      ({ certificate }) => certificate?.storageKey?.toLowerCase() === storageKey.toLowerCase(),
    );
    if (hasKey && (await showsField(database, companyId, CERTIFICATIONS))) return true;
  }
  return false;
}
