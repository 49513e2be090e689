import type { Links } from './catalogue/companies/record/links.ts';
import {
  findPartners,
  findRoles,
  mergeProducts,
  ownsProducts,
} from './catalogue/products/partners/company-store.ts';

/** What companies are asked of other features. */
export const companyLinks: Links = {
  rolesOf: findRoles,
  partnersOf: findPartners,
  hasProduct: ownsProducts,
  mergeProducts,
};
