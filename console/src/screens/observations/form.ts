/** The entries of the form of an observation. */
export interface Draft {
  message: string;
  /** local time, as an input of the type datetime-local has it */
  observedAt: string;
  /** degrees, as they are typed */
  lat: string;
  lon: string;
  fields: { name: string; value: string }[];
}

/** The names that the service gives a meaning of their own. */
const TAKEN = new Set(['observed_at', 'capture_point', 'message', 'attachments', 'geojson']);

/** A moment as an input of the type datetime-local has it, in the browser's zone. */
export function localTime(moment: Date): string {
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The offset of the browser's zone at a moment, as in ISO 8601. */
export function offsetOf(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  const digits = (value: number) => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(Math.abs(minutes) / 60))}:${digits(Math.abs(minutes) % 60)}`;
}

/** A typed value: a number or true and false where it reads as such, otherwise text. */
export function typedValue(text: string): unknown {
  const value = text.trim();
  if (/^(true|false)$/.test(value)) return value === 'true';
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(value)) return Number(value);
  return text;
}

/** Further fields whose names cannot be used. */
export function wrongNames({ fields }: Pick<Draft, 'fields'>): string[] {
  return fields
    .map(({ name }) => name.trim())
    .filter((name, at, all) => TAKEN.has(name) || (name !== '' && all.indexOf(name) !== at));
}

/** Whether there is nothing but a position and a time. */
export function saysNothing({ message, fields }: Draft, photos: readonly unknown[]): boolean {
  const isFilled = ({ name, value }: Draft['fields'][number]) => name.trim() !== '' && value.trim() !== '';
  return message.trim() === '' && photos.length === 0 && !fields.some(isFilled);
}

/** The body of POST /intake/scouting for a draft. */
export function observationBody(draft: Draft, photos: readonly { id: string; name: string }[]): object {
  const further = draft.fields
    .map(({ name, value }) => [name.trim(), typedValue(value)] as const)
    .filter(([name]) => name !== '');
  return {
    ...Object.fromEntries(further),
    observed_at: `${draft.observedAt}:00${offsetOf(new Date(draft.observedAt))}`,
    capture_point: { lat: Number(draft.lat), lon: Number(draft.lon) },
    message: draft.message,
    attachments: photos.map(({ id, name }) => ({ id, name })),
  };
}
