import type pg from 'pg';
import type { Server } from '../../../platform/http/server.ts';
import type { BreakerWatch } from '../../../platform/outbound/breaker-watch.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { retrieveDaily } from './daily.ts';
import { openProvider } from './provider.ts';
import { type Currencies, openCurrencies } from './rates.ts';

/**
 * Opens the currency service, with daily retrieval while the server listens.
 *
 * @throws SettingsError
 */
export function openCurrency(
  app: Server,
  settings: Settings,
  pool: pg.Pool,
  breakers: BreakerWatch,
): Currencies {
  const provider = openProvider(pool, settings, app.log, breakers);
  if (provider) {
    let stop = async () => {};
    app.addHook('onListen', async () => {
      stop = retrieveDaily(pool, provider, app.log);
    });
    app.addHook('onClose', () => stop());
  }
  return openCurrencies(pool, provider);
}
