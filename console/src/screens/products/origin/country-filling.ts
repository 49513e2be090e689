import { surelyIn } from '../../../parts/maps/countries.ts';
import type { Place } from './origin.ts';

/** Fills in the countries of the places of a form. */
export interface CountryFilling {
  /** After the position of a place has changed, however it was entered. */
  moved(place: Place): void;
  /** After a person has chosen the country of a place: it stays, whatever the position is. */
  chosen(place: Place): void;
}

/**
 * Fills in the country that a place is in, as far as the map is sure of it. What was filled in follows the position, also
 * while it is typed, and is emptied where the country is unclear. What a person chose, and what was stored, stays.
 */
export function countryFilling(): CountryFilling {
  /** what was filled in, by the place */
  const filled = new WeakMap<Place, string>();
  return {
    moved(place) {
      const { latitude, longitude, countryCode } = place;
      if (countryCode !== '' && countryCode !== filled.get(place)) return;
      // Number('') is 0, which is a degree.
      const isWhole = latitude !== '' && longitude !== '';
      place.countryCode = (isWhole ? surelyIn(Number(longitude), Number(latitude)) : undefined) ?? '';
      filled.set(place, place.countryCode);
    },
    chosen(place) {
      filled.delete(place);
    },
  };
}
