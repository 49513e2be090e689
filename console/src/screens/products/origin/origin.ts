import { isSame, textOf, valueAt, withoutEmpty } from '../../../parts/forms/nested.ts';

/** A place of an origin or a batch; numbers as they are typed. */
export interface Place extends Record<string, unknown> {
  pinName: string;
  latitude: string;
  longitude: string;
  numberOfFarmers: string;
  countryCode: string;
}

/** A pin of the origin. */
export interface Pin extends Place {
  areaInHectares: string;
  geoid: string;
}

/** A point of the way that a product takes. */
export interface Marker {
  latitude: string;
  longitude: string;
}

/** Where a product comes from and goes to: the part of the form that is on a map. */
export interface Origin {
  pins: Pin[];
  journey: Marker[];
}

export const newMarker = (): Marker => ({ latitude: '', longitude: '' });
export const newPlace = (): Place => ({
  ...newMarker(),
  pinName: '',
  numberOfFarmers: '',
  countryCode: '',
});
export const newPin = (): Pin => ({ ...newPlace(), areaInHectares: '', geoid: '' });

/** The pins and the journey of a product, or of the content of a label. */
export function originOf(record: object): Origin {
  const list = (path: string) =>
    structuredClone((valueAt(record, path) ?? []) as (Record<string, unknown> | undefined)[]);
  const names = Object.keys(newPin());
  return {
    pins: list('origin.locations').map(
      location =>
        ({ ...location, ...Object.fromEntries(names.map(name => [name, textOf(location?.[name])])) }) as Pin,
    ),
    journey: list('journeyMarkers').map(marker => ({
      latitude: textOf(marker?.latitude),
      longitude: textOf(marker?.longitude),
    })),
  };
}

/** The changed pins and journey, as bodies have them. */
export function changedOrigin(origin: Origin, before: Origin): { locations?: object[]; markers?: object[] } {
  return {
    ...(!isSame(origin.pins, before.pins) && { locations: origin.pins.map(withoutEmpty) }),
    ...(!isSame(origin.journey, before.journey) && { markers: origin.journey.map(withoutEmpty) }),
  };
}
