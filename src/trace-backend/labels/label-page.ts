import { escaped, pageOf } from '../../platform/http/page.ts';
import type { PublicLabel } from '../products/labels/schemas.ts';

/**
 * A label as a page for phones. It contains no fixed words, so that it is entirely in the label's language; its links
 * are relative, so that it works behind a proxy that adds to the path.
 */
export function labelPage({ uuid, title, language, fields, product, company, photo }: PublicLabel) {
  const heading = title ?? product.name;
  const by = [title === undefined || title === product.name ? undefined : product.name, company?.name];
  const sections = Map.groupBy(
    fields.filter(({ value }) => value !== undefined && value !== ''),
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
