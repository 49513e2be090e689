import { escaped, pageOf } from '../../platform/http/page.ts';
import type { PublicLabel } from './schemas.ts';
import { isPath } from './values.ts';

/**
 * A label as a page for phones. It contains no fixed words, so that it is entirely in the label's language; its links
 * are relative, so that it works behind a proxy that adds to the path.
 */
export function labelPage(
  { uuid, title, language, fields, product, company, photo }: PublicLabel,
  isSelective: boolean,
): { html: string; policy: string } {
  const heading = title ?? product.name;
  const by = [title === undefined || title === product.name ? undefined : product.name, company?.name];
  const shown = isSelective ? fields.flatMap(forPeople) : fields;
  const sections = Map.groupBy(
    shown.filter(({ value }) => value !== undefined && value !== ''),
    ({ section = '' }) => section,
  );
  return pageOf({
    title: heading,
    by: by.filter(Boolean).join(' · '),
    lang: language?.toLowerCase() ?? '',
    head: `<link rel="icon" href="${uuid}/qr.svg">`,
    banner: photo === undefined ? '' : `<img src="${uuid}/photo" alt="${escaped(product.name)}">`,
    sections: [...sections].map(([section, items]) => sectionOf(section, items)).join('\n'),
  });
}

/** Fields of a label's content that its heading shows, or that only programs use. */
const NOT_LISTED =
  /^(name|photo|company\.(name|logo)|settings\.(language|gdprText|privacyPolicyText|termsOfUseText))$/;

/**
 * A field that selects from the label's content, as text. Names of such fields are words of the interface, in English:
 * they are left out.
 */
function forPeople({ name = '', section, value }: PublicLabel['fields'][number]): PublicLabel['fields'] {
  if (!isPath(name)) return [{ name, ...(section && { section }), value }];
  if (NOT_LISTED.test(name)) return [];
  const text = typeof value === 'object' ? textOf(value) : value;
  return text === undefined || text === '' ? [] : [{ value: text }];
}

/** The texts of an origin or an address. */
function textOf(value: unknown): string {
  const { text, address, city, state, zip, country } = (value ?? {}) as Record<string, unknown>;
  const { name } = (country ?? {}) as { name?: unknown };
  return [text, address, zip, city, state, name].filter(part => typeof part === 'string' && part).join(', ');
}

function sectionOf(section: string, fields: PublicLabel['fields']): string {
  const heading = section === '' ? '' : `<h2 dir="auto">${escaped(section)}</h2>`;
  const items = fields.map(({ name = '', value }) => {
    const term = name === '' ? '' : `<dt dir="auto">${escaped(name)}</dt>`;
    return `<div>${term}<dd dir="auto">${escaped(shown(value))}</dd></div>`;
  });
  return `<section>${heading}<dl>${items.join('')}</dl></section>`;
}

/** A value as text; yes and no are symbols, which need no language. */
function shown(value: unknown): string {
  return value === true ? '✓' : value === false ? '✗' : String(value);
}
