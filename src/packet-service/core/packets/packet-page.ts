import { escaped, pageOf, UNLISTED } from '../../../platform/http/page.ts';
import { parseJsonText } from '../../../platform/json-text.ts';
import type { StoredPacket } from './read-store.ts';

/** Characters of a Body that a page shows; what is larger is only in the JSON. */
const SHOWN_BODY = 256 * 1024;
/** Further fields on the page, and characters of each. */
const SHOWN_FIELDS = 50;
const SHOWN_CHARACTERS = 1000;

interface Header {
  id: string;
  geoid: string;
  timestamp: string;
  type: string;
}

/** A packet for a browser, as the mail about a share links it. */
export function packetPage({ header, body, footer }: Pick<StoredPacket, 'header' | 'body' | 'footer'>) {
  const { id, geoid, timestamp, type } = JSON.parse(header) as Header;
  const { hash } = JSON.parse(footer) as { hash: string };
  const shown: Record<string, unknown> =
    body === null || body.length > SHOWN_BODY ? {} : (parseJsonText(body) as Record<string, unknown>);
  const { message, text, capture_point: location, attachments, ...further } = shown;
  const said = [message, text].find(value => typeof value === 'string') as string | undefined;
  const rows = [
    row('Time', `<time datetime="${escaped(timestamp)}">${escaped(timestamp)}</time>`),
    locationRow(location),
    attachmentsRow(attachments),
    ...Object.entries(further)
      .slice(0, SHOWN_FIELDS)
      .map(([name, value]) => row(name.slice(0, 100), escaped(asText(value)))),
  ];
  const about = [row('GeoID', escaped(geoid)), row('Number', id), row('SHA-256', hash)];
  const sections = `<section>${said === undefined ? '' : `<p dir="auto">${escaped(said)}</p>`}
<dl>${rows.join('')}</dl></section>
<section><h2>Proof</h2><dl>${about.join('')}</dl>
<p>The hash proves that nothing has been changed since: <a href="${id}/verify">verify it</a>.</p></section>`;
  const title = type === 'chat_message' ? 'A message' : 'An observation';
  return pageOf({ title, by: type, sections, head: UNLISTED });
}

/** @param html of the value */
function row(name: string, html: string): string {
  return `<div><dt dir="auto">${escaped(name)}</dt><dd dir="auto">${html}</dd></div>`;
}

function locationRow(location: unknown): string {
  const { lat, lon } = (location ?? {}) as { lat?: unknown; lon?: unknown };
  if (typeof lat !== 'number' || typeof lon !== 'number') return '';
  return row('Place', `<a href="geo:${lat},${lon}">${lat}, ${lon}</a>`);
}

function attachmentsRow(attachments: unknown): string {
  if (!Array.isArray(attachments)) return '';
  const links = attachments
    .slice(0, SHOWN_FIELDS)
    .map(item => (typeof item === 'string' ? item : (item as { id?: unknown } | null)?.id))
    .filter(id => typeof id === 'string' && /^att_[0-9A-Z]{26}$/.test(id))
    .map((id, index) => `<a href="../attachments/${id}">File ${index + 1}</a>`);
  return links.length === 0 ? '' : row('Files', links.join('\n'));
}

function asText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…`.toWellFormed() : text;
}
