import type { Role } from './role.ts';

/** A rule of who can call a route. */
interface Rule {
  /** the least role that is checked before the body is read; without it no login is needed */
  role?: Role;
  /** others get 404, as for an unknown record, unless stated otherwise */
  who: string;
  /** file and name of the function that decides by the record, which it reads or locks for the request anyway */
  by?: readonly [file: string, name: string];
}

const COMPANIES = 'catalogue/companies/access.ts';
const PRODUCTS = 'catalogue/products/access.ts';

/** All access rules of the service. A route names one as `config.access`. */
export const RULES = {
  open: { who: 'anyone' },
  'optional-user': { who: 'anyone, identified if a valid cookie or key is present' },
  user: { role: 'USER', who: 'every active user who is logged in; what they see and change is their own' },
  'regional-admin': { role: 'REGIONAL_ADMIN', who: 'administrators; others get 403' },
  'system-admin': { role: 'SYSTEM_ADMIN', who: 'a SYSTEM_ADMIN; others get 403' },
  'company.member': {
    role: 'USER',
    who: 'members of the company, and administrators',
    by: [COMPANIES, 'readableCompany'],
  },
  'company.changeable': {
    role: 'USER',
    who: 'a COMPANY_ADMIN of the company while it is active, and a SYSTEM_ADMIN; others who may read it get 403',
    by: [COMPANIES, 'changeableCompany'],
  },
  'product.readable': {
    role: 'USER',
    who: 'members of its owner and of associated companies, its creator if it has no owner, and administrators',
    by: [PRODUCTS, 'readableProduct'],
  },
  'product.changeable': {
    role: 'USER',
    who: 'members of its owner, its creator if it has none, and a SYSTEM_ADMIN; others who may read it get 403',
    by: [PRODUCTS, 'changeableProduct'],
  },
  'product.leavable': {
    role: 'USER',
    who: 'members of the associated company, and those who may change the product; others who may read it get 403',
    by: [PRODUCTS, 'leavableProduct'],
  },
  'file.readable': {
    role: 'USER',
    who: 'its uploader, a SYSTEM_ADMIN, and those who may read a record that refers to it (record-kinds.ts)',
    by: ['catalogue/images/references-store.ts', 'mayReadImage'],
  },
} as const satisfies Record<string, Rule>;

/** The name of a rule. */
export type Access = keyof typeof RULES;

/** The role that a rule needs; undefined if it needs no login. */
export const roleOf = (access: Access): Role | undefined => (RULES[access] as Rule).role;

/** Whether only administrators may call a route with this rule. */
export const isAdministrative = (access: Access | undefined): boolean =>
  access === 'regional-admin' || access === 'system-admin';
