import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { acceptWeight } from './accept.ts';
import type { Problem } from './problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether people open this address in a browser, so that a failure is a page for them. */
    forPeople?: boolean;
  }
}

/** The style of every page that a person opens: phones first, light and dark. */
const STYLE = `
:root{color-scheme:light dark;--ink:#23211d;--soft:#6b665c;--line:#e4dfd4;--paper:#fbf9f4;--mark:#3f6b3a;--on:#fff}
@media(prefers-color-scheme:dark){
:root{--ink:#ece8df;--soft:#a49e92;--line:#38352f;--paper:#191815;--mark:#9cc795;--on:#191815}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.55 system-ui,sans-serif;
overflow-wrap:anywhere}
main{max-width:38rem;margin:0 auto;padding-bottom:4rem}
img{display:block;width:100%;max-height:60vh;object-fit:contain}
img.logo{width:auto;max-width:10rem;max-height:10rem;margin-top:1.75rem;object-fit:contain}
svg.map{display:block;width:100%;height:auto;margin-top:.5rem;background:var(--line);border:1px solid var(--line);
border-radius:.5rem}
.map path{fill:var(--paper);stroke:var(--soft)}
.map circle{fill:var(--mark);stroke:var(--on);stroke-width:3}
header,section{padding:0 1.25rem}
h1{font:600 1.9rem/1.2 Georgia,serif;margin:1.75rem 0 .25rem;text-wrap:balance}
.by{color:var(--soft);margin:0}
h2{font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--mark);margin:2.25rem 0 0;
padding-bottom:.4rem;border-bottom:1px solid var(--line)}
dl{margin:0}
dl div,.item{padding:.85rem 0;border-bottom:1px solid var(--line)}
dt{font-size:.85rem;color:var(--soft)}
dd{margin:.1rem 0 0;white-space:pre-line}
a{color:var(--mark)}
label{display:block;font-size:.85rem;color:var(--soft);margin-top:1rem}
button,input{font:inherit;padding:.6rem 1rem;border:1px solid var(--line);border-radius:.5rem}
input{display:block;width:100%;margin-top:.25rem;background:transparent;color:inherit}
button{margin:1rem .5rem 0 0;background:var(--mark);border-color:var(--mark);color:var(--on);cursor:pointer}
button.other{background:transparent;color:var(--mark)}
output{display:block;margin-top:1rem}
code,pre{font:.85rem/1.5 ui-monospace,monospace}
pre{white-space:pre-wrap;border:1px solid var(--line);border-radius:.5rem;padding:.85rem}
`;

/** What a page shows. */
export interface Page {
  /** as plain text */
  title: string;
  /** HTML of the sections below the heading */
  sections: string;
  /** a line below the heading, as plain text */
  by?: string;
  /** language of the texts; en if it is not given */
  lang?: string | undefined;
  /** HTML for the head of the document */
  head?: string;
  /** HTML before the heading */
  banner?: string;
  /** CSS beyond the shared style, without any text of a user */
  style?: string | undefined;
  script?: string;
  /** whether it has forms, which this server takes */
  forms?: boolean;
}

/** A page in the shared style. It loads nothing from elsewhere, and other pages cannot embed it. */
export function pageOf({
  title,
  sections,
  by = '',
  lang = 'en',
  head = '',
  banner = '',
  style = '',
  script,
  forms = false,
}: Page): {
  html: string;
  policy: string;
} {
  const html = `<!doctype html>
<html lang="${escaped(lang)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<title>${escaped(title)}</title>
<style>${STYLE}</style>${style && `\n<style>${style}</style>`}
<main>
${banner}
<header>
<h1 dir="auto">${escaped(title)}</h1>
${by === '' ? '' : `<p class="by" dir="auto">${escaped(by)}</p>\n`}</header>
${sections}
</main>
${script === undefined ? '' : `<script>${script}</script>\n`}</html>
`;
  const policy = policyOf([STYLE, style].filter(Boolean), forms ? "'self'" : "'none'");
  return { html, policy: script === undefined ? policy : `${policy}; ${scriptPolicy(script)}` };
}

function policyOf(styles: readonly string[], formAction: string): string {
  const hashes = styles.map(style => `'sha256-${hash('sha256', style, 'base64')}'`);
  return (
    `default-src 'none'; img-src 'self' data:; style-src ${hashes.join(' ')}; ` +
    `base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`
  );
}

function scriptPolicy(script: string): string {
  return `connect-src 'self'; script-src 'sha256-${hash('sha256', script, 'base64')}'`;
}

/** An icon that asks the server for nothing. */
export const NO_ICON = '<link rel="icon" href="data:,">';
/** The head of a page that search engines leave out. */
export const UNLISTED = `<meta name="robots" content="noindex">\n${NO_ICON}`;

/**
 * Sends a page; what made it is not in the Referer of its links.
 *
 * @param referrer same-origin for forms that are sent with POST: without it browsers send the Origin null
 */
export function sendHtml(
  reply: FastifyReply,
  { html, policy }: { html: string; policy: string },
  referrer: 'no-referrer' | 'same-origin' = 'no-referrer',
): FastifyReply {
  return reply
    .headers({ 'content-security-policy': policy, 'referrer-policy': referrer })
    .type('text/html; charset=utf-8')
    .serializer(asIs)
    .send(html);
}

const asIs = (text: unknown) => text as string;

/** The Vary header of an answer that depends on Accept too. */
export function varyOf(reply: FastifyReply): string {
  return [reply.getHeader('vary'), 'accept'].filter(Boolean).join(', ');
}

/** Whether an Accept header ranks text/html above JSON (RFC 9110 §12.5.1); JSON if they rank equally. */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return false;
  return (acceptWeight(accept, 'text/html') ?? 0) > (acceptWeight(accept, 'application/json') ?? 0);
}

/** Plain text as HTML. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`);
}

/** What a page says of a failure, by its kind. */
const TITLES: Partial<Record<Problem['code'], string>> = {
  not_found: 'Page not found',
  gone: 'Erased',
  unauthenticated: 'Login required',
  forbidden: 'You don’t have access',
  too_many_requests: 'Too many requests',
};

/** A failure as a page, for links that people open. */
export function problemPage({ code, message, status }: Problem): { html: string; policy: string } {
  const hint =
    code === 'unauthenticated' || code === 'forbidden'
      ? 'Open the link in your field app, where you are logged in.'
      : status >= 500 || status === 429
        ? 'Try again in a moment.'
        : 'The link may be incomplete, or the page is not available.';
  const sections = `<section><p>${hint}</p><p class="by">${escaped(message)}</p></section>`;
  return pageOf({ title: TITLES[code] ?? 'Something went wrong', sections, head: UNLISTED });
}
