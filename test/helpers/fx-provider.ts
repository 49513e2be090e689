import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The behaviour of the provider: correct, or one of its failures. */
export type Behaviour =
  | 'well'
  | 'bad key'
  | 'restricted'
  | 'quota'
  | 'no rates'
  | 'down'
  | 'silent'
  | 'held'
  | 'not json'
  | 'cut';

export const FX_KEY = 'the-access-key-of-the-tests';

export interface FxProvider {
  url: string;
  /** paths that were asked for, in order */
  asked: string[];
  behaviour: Behaviour;
  /** what is published on days that are no weekend; others give the Friday before */
  rates: Record<string, number>;
  /** Answers as it should what came in while it was `held`, and from then on. */
  release(): void;
  stop(): Promise<void>;
}

const ERRORS: Partial<Record<Behaviour, object>> = {
  'bad key': { code: 101, type: 'invalid_access_key', info: 'You have not supplied a valid API Access Key.' },
  restricted: { code: 105, type: 'base_currency_access_restricted' },
  quota: { code: 104, type: 'usage_limit_reached' },
  'no rates': { code: 106, type: 'no_rates_available' },
};

/** An exchange-rate provider on loopback that speaks the protocol of exchangeratesapi.io and can fail in each way. */
export async function fxProvider(): Promise<FxProvider> {
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    provider.asked.push(url.pathname.slice(1));
    if (provider.behaviour === 'held') held.push(() => answer(provider, url, response));
    else answer(provider, url, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const provider: FxProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked: [],
    behaviour: 'well',
    rates: { USD: 1.0825, RWF: 1571.823456, JPY: 163.21, XAU: 0.000394, EUR: 1 },
    release() {
      provider.behaviour = 'well';
      for (const answerHeld of held.splice(0)) answerHeld();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return provider;
}

function answer({ behaviour, rates }: FxProvider, url: URL, response: ServerResponse): void {
  const send = (body: object, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const error = ERRORS[behaviour];
  if (url.searchParams.get('access_key') !== FX_KEY) send({ success: false, error: ERRORS['bad key'] });
  else if (error) send({ success: false, error });
  else if (behaviour === 'down') response.writeHead(500).end();
  else if (behaviour === 'not json') response.writeHead(200).end('<html>');
  else if (behaviour === 'cut')
    response.writeHead(200, { 'content-length': 1000 }).write('{', () => response.destroy());
  else if (behaviour === 'silent') return;
  else if (url.pathname === '/symbols') {
    send({
      success: true,
      symbols: {
        USD: 'United States Dollar',
        RWF: 'Rwandan Franc',
        JPY: 'Japanese Yen',
        XAU: 'Gold (troy ounce)',
      },
    });
  } else {
    const date = url.pathname === '/latest' ? new Date().toISOString().slice(0, 10) : url.pathname.slice(1);
    send({ success: true, base: 'EUR', date: fridayOrBefore(date), rates });
  }
}

/** The last day up to this one that is no Saturday or Sunday. */
export function fridayOrBefore(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  while (day.getUTCDay() % 6 === 0) day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}
