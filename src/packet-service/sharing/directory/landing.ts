import type { Server } from '../../../platform/http/server.ts';
import { landingSchema } from './schemas.ts';

/** The page of a mailed link. */
export interface Landing {
  /** ends in /:token */
  path: `${string}/:token`;
  tag: string;
  title: string;
  sentence: string;
  /** a description of the request that an app sends for the link */
  request: string;
}

/**
 * The page that a mailed link opens in a browser if no app handles it. It is the same for every token and changes
 * nothing, because mail scanners open every link. The action itself is a POST.
 */
export function registerLandingPage(app: Server, landing: Landing): void {
  const html = page(landing);
  app.get(
    landing.path,
    {
      config: { open: true },
      schema: landingSchema(landing),
    },
    async (_request, reply) =>
      reply
        .headers({
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          'referrer-policy': 'no-referrer',
        })
        .type('text/html; charset=utf-8')
        .serializer(asIs)
        .send(html),
  );
}

const asIs = (text: unknown) => text as string;

function page({ title, sentence, request }: Landing): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>
<h1>${title}</h1>
<p>${sentence}
<p>Open this link in your field app. Without one: ${request}
</html>
`;
}
