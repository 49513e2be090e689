import { ISO_3166 } from './iso-3166.ts';

export interface Country {
  /** 1-based position in the list */
  id: number;
  /** ISO 3166-1 alpha-2 */
  code: string;
  name: string;
}

/** All countries, by name. */
export const COUNTRIES: readonly Country[] = ISO_3166.map(([code, name], index) => ({
  id: index + 1,
  code,
  name,
}));

const byId = new Map(COUNTRIES.map(country => [String(country.id), country]));
const byCode = new Map(COUNTRIES.map(country => [country.code, country]));

/** The country with an id: its number, also as a string, or its code. */
export function findCountry(id: number | string): Country | undefined {
  return byId.get(String(id)) ?? findCountryByCode(String(id));
}

/** The country of an ISO 3166-1 alpha-2 code; case is ignored. */
export function findCountryByCode(code: string): Country | undefined {
  return byCode.get(code.toUpperCase());
}

/** The countries with this text in their name, or as their code; case is ignored. */
export function searchCountries(text: string): readonly Country[] {
  const part = text.toLowerCase();
  return COUNTRIES.filter(
    ({ code, name }) => name.toLowerCase().includes(part) || code.toLowerCase() === part,
  );
}
