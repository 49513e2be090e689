import type { StoredFile } from '../../../api/stored-file.ts';
import { textOf } from '../../../parts/forms/nested.ts';
import { newPlace, type Place } from '../../products/origin/origin.ts';

/** The entries of the form of a batch; dates as YYYY-MM-DD. */
export interface BatchForm {
  number: string;
  productionDate: string;
  expiryDate: string;
  checkAuthenticity: boolean;
  traceOrigin: boolean;
  photo: StoredFile | undefined;
  locations: Place[];
}

/** The fields of a place that the form shows; others stay. */
const SHOWN = Object.keys(newPlace());
/** The day of a date or time. */
const day = (value: unknown) => textOf(value).slice(0, 10);

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
      place => ({ ...place, ...Object.fromEntries(SHOWN.map(name => [name, textOf(place[name])])) }) as Place,
    ),
  };
}

/** The body of a batch; an empty text clears a field. */
export function bodyOf({ photo, locations, ...fields }: BatchForm): object {
  return {
    ...fields,
    photo: photo ? { storageKey: photo.storageKey } : '',
    locations: locations.map(place =>
      Object.fromEntries(Object.entries(place).filter(([, value]) => value !== '')),
    ),
  };
}

/** Whether a batch would expire before the day of its production. */
export function expiresTooEarly({ productionDate, expiryDate }: BatchForm): boolean {
  return productionDate !== '' && expiryDate !== '' && expiryDate < productionDate;
}
