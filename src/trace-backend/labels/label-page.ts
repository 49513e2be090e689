import { hash } from 'node:crypto';
import type { PublicLabel } from '../products/labels/schemas.ts';

const STYLE = `
:root{color-scheme:light dark;--ink:#23211d;--soft:#6b665c;--line:#e4dfd4;--paper:#fbf9f4;--mark:#3f6b3a}
@media(prefers-color-scheme:dark){
:root{--ink:#ece8df;--soft:#a49e92;--line:#38352f;--paper:#191815;--mark:#9cc795}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.55 system-ui,sans-serif;
overflow-wrap:anywhere}
main{max-width:38rem;margin:0 auto;padding-bottom:4rem}
img{display:block;width:100%;max-height:60vh;object-fit:cover}
header,section{padding:0 1.25rem}
h1{font:600 1.9rem/1.2 Georgia,serif;margin:1.75rem 0 .25rem;text-wrap:balance}
.by{color:var(--soft);margin:0}
h2{font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--mark);margin:2.25rem 0 0;
padding-bottom:.4rem;border-bottom:1px solid var(--line)}
dl{margin:0}
div{padding:.85rem 0;border-bottom:1px solid var(--line)}
dt{font-size:.85rem;color:var(--soft)}
dd{margin:.1rem 0 0;white-space:pre-line}
`;

/** The Content-Security-Policy: style and picture only; no script, no form, no frame. */
export const PAGE_POLICY =
  `default-src 'none'; img-src 'self'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * A label as a page for phones. It contains no fixed words, so that it is entirely in the label's language; its links
 * are relative, so that it works behind a proxy that adds to the path.
 */
export function labelPage({ uuid, title, language, fields, product, company, photo }: PublicLabel): string {
  const heading = title ?? product.name;
  const by = [title === undefined || title === product.name ? undefined : product.name, company?.name];
  const sections = Map.groupBy(
    fields.filter(({ value }) => value !== undefined && value !== ''),
    ({ section = '' }) => section,
  );
  const lang = language === undefined ? '' : ` lang="${escaped(language.toLowerCase())}"`;
  return `<!doctype html>
<html${lang}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${uuid}/qr.svg">
<title>${escaped(heading)}</title>
<style>${STYLE}</style>
<main>
${photo === undefined ? '' : `<img src="${uuid}/photo" alt="${escaped(product.name)}">`}
<header>
<h1 dir="auto">${escaped(heading)}</h1>
<p class="by" dir="auto">${escaped(by.filter(Boolean).join(' · '))}</p>
</header>
${[...sections].map(([section, items]) => sectionOf(section, items)).join('\n')}
</main>
</html>
`;
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

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`);
}
