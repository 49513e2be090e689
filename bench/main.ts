import { cpus, totalmem } from 'node:os';
import { availabilityRows } from './availability.ts';
import { backupRows } from './backups.ts';
import { chatIntakeRows } from './chat-intake.ts';
import { chatSearchRows } from './chat-search.ts';
import { companyRows } from './companies.ts';
import { consoleRows } from './console.ts';
import { type Context, type Row, withContext } from './context.ts';
import { currencyRows } from './currency.ts';
import { feedRows } from './feeds.ts';
import { graphRows } from './graph.ts';
import { growthRows } from './growth.ts';
import { killRows } from './kills.ts';
import { logRows } from './log.ts';
import { memoryRows } from './memory.ts';
import { offsetRows } from './offsets.ts';
import { packetRows } from './packets.ts';
import { productRows } from './products.ts';
import { requestCostRows } from './request-costs.ts';
import { restoreRows } from './restores.ts';
import { startRows } from './start.ts';
import { tableRows } from './tables.ts';
import { threadPageRows } from './thread-pages.ts';
import { tileRows } from './tiles.ts';
import { traceRows } from './trace.ts';
import { workerRows } from './workers.ts';

/** Groups of rows by the name they are asked for: `npm run bench packets`; all of them without a name. */
const groups: Record<string, (context: Context) => Promise<Row[]>> = {
  start: startRows,
  packets: packetRows,
  growth: growthRows,
  workers: workerRows,
  kills: killRows,
  chat: chatIntakeRows,
  threads: threadPageRows,
  search: context => chatSearchRows(context),
  log: logRows,
  feeds: feedRows,
  graph: graphRows,
  tables: tableRows,
  tiles: tileRows,
  console: consoleRows,
  trace: traceRows,
  costs: requestCostRows,
  companies: companyRows,
  products: productRows,
  offsets: offsetRows,
  currency: currencyRows,
  availability: availabilityRows,
  memory: memoryRows,
  backups: backupRows,
  restores: restoreRows,
};

const SECONDS = 5;
const chosen = process.argv.slice(2).filter(argument => argument !== '--wrk');
const unknown = chosen.filter(name => !(name in groups));
if (unknown.length > 0) {
  console.error(`unknown benchmarks: ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
  process.exit(1);
}

const [cpu] = cpus();
console.log(
  `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}\n`,
);
console.log('| what | figure | of its limit | more |\n|---|---|---|---|');
for (const name of chosen.length > 0 ? chosen : Object.keys(groups)) {
  const rows = await withContext(SECONDS, groups[name] as (context: Context) => Promise<Row[]>);
  for (const row of rows) console.log(line(row));
}

function line({ name, value, unit, against, note }: Row): string {
  const digits = value < 100 ? 2 : 0;
  const figure = value.toLocaleString('en', { maximumFractionDigits: digits });
  const ratio = against ? `${against.ratio.toFixed(2)} × ${against.name}` : '';
  return `| ${name} | ${figure} ${unit} | ${ratio} | ${note ?? ''} |`;
}
