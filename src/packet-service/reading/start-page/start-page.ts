import { escaped, NO_ICON, pageOf } from '../../../platform/http/page.ts';

/** Links to further pages, each with its purpose. */
const LINKS = [
  ['docs', 'Documentation', 'every endpoint, to be tried out'],
  ['graph', 'Graph', 'the newest packets and what connects them'],
  ['openapi.json', 'OpenAPI definition', 'for generators of clients'],
  ['health', 'Health', 'whether the service works'],
] as const;

/** Sends an observation from the page's own address. */
const FIRST = `curl ORIGIN/intake/scouting -H 'content-type: application/json' \\
  -d '{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":40.7128,"lon":-74.006},"message":"Leaf rust"}'`;

const SCRIPT = `
const pre = document.querySelector('pre');
pre.textContent = pre.textContent.replace('ORIGIN', location.href.replace(/[?#].*$/, '').replace(/\\/$/, ''));
`;

/** The page at the root of the packet service. Its links are relative, for proxies that add to the path. */
export function startPage(version: string) {
  const items = LINKS.map(
    ([href, name, about]) => `<div class="item"><a href="${href}">${name}</a><br>${about}</div>`,
  );
  return pageOf({
    title: 'fieldtrace packet service',
    by: `Observations and messages from the field, as packets that never change. Version ${version}`,
    sections: `<section><h2>Where to go</h2>${items.join('')}</section>
<section><h2>A first observation</h2><pre>${escaped(FIRST)}</pre>
<p>The answer has the number of the packet. If this service asks everyone for a token, add
<code>-H 'authorization: Bearer …'</code>.</p></section>`,
    head: NO_ICON,
    script: SCRIPT,
  });
}
