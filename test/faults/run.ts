import { setTimeout as wait } from 'node:timers/promises';
import { checkAll, checkClaims, countFindings, type Findings, joinFindings, nothingWrong } from './checks.ts';
import { add, type Seen } from './client.ts';
import { CLUSTER_FAULTS } from './cluster-faults.ts';
import { type ClusterStage, openClusterStage } from './cluster-stage.ts';
import { FAULTS, type Fault } from './faults.ts';
import { type Load, openLoad, writingEndpoints } from './load.ts';
import { pick, randomFrom } from './random.ts';
import { openStage, type Stage } from './stage.ts';

const PROCESSES = 3;
/** Size of the disk that is filled. */
const OWN_DISK = '768m';
/** A fault after which not all serve again for so long ends the run, in milliseconds. */
const PATIENCE_MS = 90_000;
/** How long promised mails are waited for at the end, in milliseconds: those of a killed process are tried again later. */
const MAILS_MS = 120_000;

/** The findings of a run for one kind of fault. */
export interface Row {
  faults: number;
  seen: Seen;
  findings: Findings;
  /** from the blow until every process took a write again, in seconds, each */
  seconds: number[];
}

export interface Outcome {
  rows: Record<string, Row>;
  /** found at the end, in everything that was written */
  findings: Findings;
  /** records of which something was acknowledged, all looked for at the end */
  records: number;
  /** mails that were promised, and came */
  mails: number;
  /** by endpoint, how many writes were acknowledged; every endpoint that writes is there */
  endpoints: Record<string, number>;
  minutes: number;
  /** why fewer faults were struck than asked for */
  ended?: string;
  /** whether that was because something did not work */
  failed: boolean;
}

export interface Options {
  /** on the embedded PostgreSQL, unless another is given */
  campaign?: Campaign;
  /** kinds of fault in this order, one after the other */
  plan: readonly string[];
  minutes: number;
  seed: number;
  /** clients that write at once */
  writers?: number;
  /** milliseconds between two stories of one of them, on average: the machine has better to do than to fill a disk */
  restMs?: number;
  onLine: (line: string) => void;
  /** ends the run after the fault that is being struck */
  signal?: AbortSignal;
}

/** Kinds of faults, and the stage on which each strikes. */
export interface Campaign<On extends Stage = Stage> {
  faults: Readonly<Record<string, Fault<On>>>;
  open(fault: Fault<On>): Promise<On>;
}

/** Processes on the embedded PostgreSQL. */
export const SERVER: Campaign = {
  faults: FAULTS,
  open: ({ ownDisk }) => (ownDisk ? openStage(1, OWN_DISK) : openStage(PROCESSES)),
};

/**
 * Processes on a cluster of Citus.
 *
 * @param bin folder of the programs of a PostgreSQL that has Citus
 */
export function onCluster(bin: string): Campaign<ClusterStage> {
  return { faults: CLUSTER_FAULTS, open: () => openClusterStage(bin, PROCESSES) };
}

/** A plan of a number of faults: every kind by its share, in random order. */
export function randomPlan({ faults }: Campaign, count: number, seed: number, ownDisk: boolean): string[] {
  const random = randomFrom(seed);
  const deck = Object.entries(faults)
    .filter(([, fault]) => ownDisk || !fault.ownDisk)
    .flatMap(([name, { share }]) => Array.from({ length: share }, () => name));
  return Array.from({ length: count }, () => pick(deck, random) as string);
}

/** A stage with its load. */
interface Theatre {
  stage: Stage;
  load: Load;
}

async function openTheatre(campaign: Campaign, fault: Fault, random: () => number): Promise<Theatre> {
  const stage = await campaign.open(fault);
  const load = openLoad(stage, random);
  await load.rehearse();
  return { stage, load };
}

/**
 * Strikes faults under load, one after the other, and looks after each for what was acknowledged before and during it.
 * It ends by itself: after the plan, when its time is over, or when the services do not come back.
 */
export async function runFaults(options: Options): Promise<Outcome> {
  const began = performance.now();
  const outcome: Outcome = {
    rows: {},
    findings: nothingWrong(),
    records: 0,
    mails: 0,
    endpoints: Object.fromEntries(writingEndpoints().map(endpoint => [endpoint, 0])),
    minutes: 0,
    failed: false,
  };
  const theatres: Partial<Record<'main' | 'disk', Theatre>> = {};
  try {
    await strikeAll(options, theatres, outcome);
    for (const theatre of Object.values(theatres)) await finish(theatre, outcome);
  } catch (error) {
    outcome.ended = (error as Error).message;
    outcome.failed = true;
    options.onLine((error as Error).stack ?? String(error));
  } finally {
    for (const { load, stage } of Object.values(theatres)) {
      await Promise.race([load.stop(), within(PATIENCE_MS)]).catch(() => {});
      await stage.close();
    }
  }
  outcome.minutes = (performance.now() - began) / 60_000;
  return outcome;
}

async function strikeAll(
  { campaign = SERVER, plan, minutes, seed, writers = 8, restMs = 250, onLine, signal }: Options,
  theatres: Partial<Record<'main' | 'disk', Theatre>>,
  outcome: Outcome,
): Promise<void> {
  const random = randomFrom(seed + 1);
  const end = performance.now() + minutes * 60_000;
  for (const [at, name] of plan.entries()) {
    if (signal?.aborted || performance.now() > end) {
      outcome.ended = `${signal?.aborted ? 'it was called off' : 'the time was over'} after ${at} faults`;
      return;
    }
    const fault = campaign.faults[name] as Fault;
    const key = fault.ownDisk ? 'disk' : 'main';
    if (!theatres[key]) {
      theatres[key] = await openTheatre(campaign, fault, random);
      theatres[key].load.start(writers, restMs);
    }
    for (const [other, { load }] of Object.entries(theatres)) load.rest(other !== key);
    const row = await strike(theatres[key], fault, random);
    outcome.rows[name] = sum(outcome.rows[name], row);
    const time = new Date().toISOString().slice(11, 19);
    onLine(`${time} ${at + 1}/${plan.length} ${name}: ${inWords(row)}`);
  }
}

async function strike({ stage, load }: Theatre, fault: Fault, random: () => number): Promise<Row> {
  const began = performance.now();
  await fault.strike(stage, random);
  await Promise.race([stage.served(), within(PATIENCE_MS)]);
  const seconds = (performance.now() - began) / 1000;
  load.check();
  const findings = await checkClaims(stage, load.ledger.claims('latest'));
  return { faults: 1, seen: load.client.take(), seconds: [seconds], findings };
}

/** Ends the load, and looks through everything once more. */
async function finish({ stage, load }: Theatre, outcome: Outcome): Promise<void> {
  await Promise.race([load.stop(), within(PATIENCE_MS)]);
  const name = 'after the last fault';
  const row = { faults: 0, seen: load.client.take(), seconds: [], findings: nothingWrong() };
  outcome.rows[name] = sum(outcome.rows[name], row);
  const claims = load.ledger.claims('all');
  const findings = [await checkClaims(stage, claims), await checkAll(stage), await checkMails(stage, load)];
  outcome.findings = joinFindings(outcome.findings, ...findings);
  outcome.records += claims.length;
  outcome.mails += load.ledger.promisedMails.length;
  for (const [endpoint, count] of load.client.endpoints) {
    outcome.endpoints[endpoint] = (outcome.endpoints[endpoint] ?? 0) + count;
  }
}

/** A mail is promised with the write that causes it; it may come more than once, and must come. */
async function checkMails({ mailbox }: Stage, { ledger }: Load): Promise<Findings> {
  const missing = () => ledger.promisedMails.filter(address => mailbox.to(address).length === 0);
  const until = performance.now() + MAILS_MS;
  while (missing().length > 0 && performance.now() < until) await wait(500);
  return { ...nothingWrong(), lost: missing().map(address => `mail to ${address}`) };
}

function within(ms: number): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  setTimeout(() => reject(new Error(`not all served again within ${ms / 1000} s`)), ms).unref();
  promise.catch(() => {});
  return promise;
}

function sum(total: Row | undefined, row: Row): Row {
  if (!total) return row;
  return {
    faults: total.faults + row.faults,
    seen: add(total.seen, row.seen),
    findings: joinFindings(total.findings, row.findings),
    seconds: [...total.seconds, ...row.seconds],
  };
}

function inWords({ seen, findings, seconds }: Row): string {
  const troubles = [
    ...findings.lost.map(line => `LOST ${line}`),
    ...findings.doubled.map(line => `DOUBLED ${line}`),
    ...findings.changed.map(line => `CHANGED ${line}`),
    ...seen.unexpected,
  ];
  return `${seen.acknowledged} acknowledged, ${seconds[0]?.toFixed(1)} s ${troubles.join('; ')}`.trimEnd();
}

/** The reasons why a run failed, in words. */
export function troublesOf(outcome: Outcome): string[] {
  const rows = Object.values(outcome.rows);
  const wrong = joinFindings(outcome.findings, ...rows.map(({ findings }) => findings));
  return [
    ...(outcome.failed ? [outcome.ended as string] : []),
    ...(countFindings(wrong) > 0 ? [JSON.stringify(wrong)] : []),
    ...rows.flatMap(({ seen }) => seen.unexpected),
    ...Object.entries(outcome.endpoints)
      .filter(([, count]) => count === 0 && !outcome.failed)
      .map(([endpoint]) => `${endpoint} was never written to: test/faults has no story that does`),
  ];
}
