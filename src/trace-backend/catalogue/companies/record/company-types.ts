/** The roles of companies in products. */
export const COMPANY_TYPES = [
  'BUYER',
  'IMPORTER',
  'EXPORTER',
  'OWNER',
  'PRODUCER',
  'ASSOCIATION',
  'PROCESSOR',
  'TRADER',
  'ROASTER',
] as const;
export type CompanyType = (typeof COMPANY_TYPES)[number];
