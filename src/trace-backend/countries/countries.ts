import { ISO_3166 } from './iso-3166.ts';

export interface Country {
  /** 1-based place in the list */
  id: number;
  /** ISO 3166-1 alpha-2 */
  code: string;
  name: string;
}

/** Every country, in the order of the list, which is that of their names. */
export const COUNTRIES: readonly Country[] = ISO_3166.map(([code, name], index) => ({
  id: index + 1,
  code,
  name,
}));

const byId = new Map(COUNTRIES.map(country => [String(country.id), country]));
const byCode = new Map(COUNTRIES.map(country => [country.code, country]));

/** The country that an id names: its number, also as a string, or its code, which is an id as good. */
export function findCountry(id: number | string): Country | undefined {
  return byId.get(String(id)) ?? findCountryByCode(String(id));
}

/** The country of an ISO 3166-1 alpha-2 code in either case. */
export function findCountryByCode(code: string): Country | undefined {
  return byCode.get(code.toUpperCase());
}
