import type { Links } from './companies/links.ts';
import { findPartners, findRoles, mergeProducts, ownsProducts } from './products/company-store.ts';

/** What companies are asked of other features. */
export const companyLinks: Links = {
  rolesOf: findRoles,
  partnersOf: findPartners,
  hasProduct: ownsProducts,
  mergeProducts,
};
