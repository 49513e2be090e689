import type { StoredFile } from '../../../api/stored-file.ts';
import { textOf } from '../../../parts/forms/nested.ts';

/** A place in the form of a batch; numbers as they are typed. Fields that the form does not show stay. */
export interface Location extends Record<string, unknown> {
  pinName: string;
  latitude: string;
  longitude: string;
  numberOfFarmers: string;
}

/** What the form of a batch holds; dates as YYYY-MM-DD. */
export interface BatchForm {
  number: string;
  productionDate: string;
  expiryDate: string;
  checkAuthenticity: boolean;
  traceOrigin: boolean;
  photo: StoredFile | undefined;
  locations: Location[];
}

const PLACE = ['pinName', 'latitude', 'longitude', 'numberOfFarmers'] as const;
/** The day of a date or time. */
const day = (value: unknown) => textOf(value).slice(0, 10);

export function newLocation(): Location {
  return { pinName: '', latitude: '', longitude: '', numberOfFarmers: '' };
}

/** The form of a batch; without one, that of a new one. */
export function formOf(batch: object = {}): BatchForm {
  const stored = batch as Record<string, unknown>;
  const locations = (stored.locations ?? []) as Record<string, unknown>[];
  return {
    number: textOf(stored.number),
    productionDate: day(stored.productionDate),
    expiryDate: day(stored.expiryDate),
    checkAuthenticity: stored.checkAuthenticity === true,
    traceOrigin: stored.traceOrigin === true,
    photo: stored.photo as StoredFile | undefined,
    locations: locations.map(
      one => ({ ...one, ...Object.fromEntries(PLACE.map(name => [name, textOf(one[name])])) }) as Location,
    ),
  };
}

/** The body of a batch; an empty text clears a field. */
export function bodyOf({ photo, locations, ...fields }: BatchForm): object {
  return {
    ...fields,
    photo: photo ? { storageKey: photo.storageKey } : '',
    locations: locations.map(one =>
      Object.fromEntries(Object.entries(one).filter(([, value]) => value !== '')),
    ),
  };
}

/** Whether a batch would expire before the day of its production. */
export function expiresTooEarly({ productionDate, expiryDate }: BatchForm): boolean {
  return productionDate !== '' && expiryDate !== '' && expiryDate < productionDate;
}
