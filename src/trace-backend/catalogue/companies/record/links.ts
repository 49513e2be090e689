import type { Database } from '../../../../platform/database/database.ts';
import type { CompanyType } from './company-types.ts';

/** A company that becomes a part of another one, and who merges them. */
export interface Merge {
  from: number;
  into: number;
  userId: number;
}

/** What other features know of companies. */
export interface Links {
  /** The roles of a company in products, each once. */
  rolesOf(database: Database, companyId: number): Promise<CompanyType[]>;
  /** The other companies of the products that a company is associated with; those with this role, if there is one. */
  partnersOf(database: Database, companyId: number, role?: CompanyType): Promise<number[]>;
  /** Whether a company owns a product. */
  hasProduct(database: Database, companyId: number): Promise<boolean>;
  /** Gives the products and associations of a company to another one; returns the number of products changed. */
  mergeProducts(database: Database, merge: Merge): Promise<number>;
}
