import { formatNumber } from '../../messages/format.ts';
import { t } from '../../messages/messages.svelte.ts';

/** Exact to a metre. */
const degrees = (value: number) => `${formatNumber(value, { maximumFractionDigits: 5 })}°`;

/** Where the middle of a map is, in words. @param country undefined at sea */
export function middleText({ lat, lon }: { lat: number; lon: number }, country: string | undefined): string {
  return t(country ? 'map.middle.country' : 'map.middle', {
    lat: degrees(lat),
    lon: degrees(lon),
    country: country ?? '',
  });
}
