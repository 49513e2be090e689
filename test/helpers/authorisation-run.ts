import { expect } from 'vitest';
import { KINDS, type Kind, type Row, type World } from './authorisation.ts';
import { badCookies } from './bad-cookies.ts';
import { companyOf } from './chain.ts';
import { eventually } from './eventually.ts';
import { type MediaTypes, mediaTypesOf } from './media-types.ts';
import { quickSender } from './quick-send.ts';
import type { Answer } from './service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './trace.ts';

/** The context that the requests of the authorisation table share. */
export interface Stage {
  trace: RunningTrace;
  /** trace backends over the same database with the other values of AUTH_MODE */
  others: RunningTrace[];
  mediaTypes: MediaTypes;
  /** for all requests that leave companies, users and sessions as they are, with a user of each kind in it */
  common: World;
  callers: Record<Kind, LoggedIn>;
  /** cookies that must not count */
  bad: Record<string, string | undefined>;
  stop(): Promise<void>;
}

/** Thousands of requests come from one address. */
const RATE_LIMIT = 'off';

export async function openStage(): Promise<Stage> {
  const trace = await runningTrace({ RATE_LIMIT });
  const modes = ['off', 'required'].map(AUTH_MODE => runningTrace({ AUTH_MODE, RATE_LIMIT }, trace));
  const others = await Promise.all(modes);
  const common = await makeWorld(trace);
  const made = await Promise.all(
    KINDS.map(async kind => [kind, await callerOf(trace, kind, common)] as const),
  );
  const gone = await trace.loggedIn('SYSTEM_ADMIN');
  await trace.pool.query("UPDATE users SET status = 'DEACTIVATED' WHERE id = $1", [gone.id]);
  return {
    trace,
    others,
    mediaTypes: await mediaTypesOf(trace.send, '/v3/api-docs'),
    common,
    callers: Object.fromEntries(made) as Record<Kind, LoggedIn>,
    bad: { ...(await badCookies(trace, common.owner)), deactivated: gone.cookie },
    async stop() {
      await Promise.all(others.map(other => other.stop()));
      await trace.stop();
    },
  };
}

async function makeWorld(trace: RunningTrace): Promise<World> {
  const owner = await trace.loggedIn();
  return { owner, companyId: await companyOf(trace, 'Cooperative', [owner]) };
}

/** A user of a kind, logged in. */
async function callerOf(trace: RunningTrace, kind: Kind, { owner, companyId }: World): Promise<LoggedIn> {
  if (kind === 'administrator') return owner;
  const roles = { regionalAdmin: 'REGIONAL_ADMIN', systemAdmin: 'SYSTEM_ADMIN' } as const;
  const caller = await trace.loggedIn(
    kind === 'regionalAdmin' || kind === 'systemAdmin' ? roles[kind] : 'USER',
  );
  if (kind === 'stranger') await companyOf(trace, 'Another', [caller]);
  if (kind === 'member' || kind === 'pending') {
    const invited = { companyId, userId: caller.id };
    const by = await owner.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', invited);
    expect(by.status, by.text).toBe(200);
  }
  if (kind === 'member') {
    const accepted = await caller.send('POST', '/api/company/execute/ACCEPT_INVITATION', { companyId });
    expect(accepted.status, accepted.text).toBe(200);
  }
  return caller;
}

/** A good request to a route, which can be made several times, as long as it changes nothing or is refused. */
type SendRequest = (cookie?: string, at?: RunningTrace, more?: Record<string, string>) => Promise<Answer>;

/** Makes what the request of a route names. */
async function requestTo({ trace }: Stage, route: string, row: Row, world: World): Promise<SendRequest> {
  const [method, pattern] = route.split(' ') as [string, string];
  const path = row.path ? await row.path(world) : pattern;
  const body = row.form ? undefined : await row.body?.(world);
  return async (cookie, at = trace, more = {}) => {
    const headers: Record<string, string> = cookie === undefined ? more : { cookie, ...more };
    if (!row.form) {
      const send = () => quickSender(at.url)(method, path, body, headers);
      // A slot that one process has just freed is free for the others a moment later.
      return row.inTurn ? eventually(send, ({ status }) => status !== 503) : send();
    }
    const response = await fetch(at.url + path, { method, headers, body: row.form() });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
}

/** Whether the request of a route, answered with this status, leaves everything as it was. Wrong logins are counted. */
const changesNothing = (route: string, row: Row, status: number) =>
  /^(GET|HEAD) /.test(route) || (status >= 400 && row.open === undefined);

/** Whether the request of a route changes who may do what: a user, a session, or a company and its members. */
const changesCallers = (route: string) => /^\w+ \/api\/(user|company)\//.test(route);

/** Does something with each of several things: at once, or one after the other where a route serves nobody else meanwhile. */
async function forEach<Item>(
  row: Row,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  if (row.inTurn) for (const item of items) await work(item);
  else await Promise.all(items.map(work));
}

/** Asks as each kind of user. */
export async function eachKind(stage: Stage, route: string, row: Row): Promise<void> {
  const { trace, common, callers } = stage;
  const repeated = KINDS.some(kind => changesNothing(route, row, row[kind]))
    ? await requestTo(stage, route, row, common)
    : undefined;
  await forEach(row, KINDS, async kind => {
    const isRepeated = changesNothing(route, row, row[kind]);
    const isAlone = !isRepeated && changesCallers(route);
    const world = isAlone ? await makeWorld(trace) : common;
    const send = (isRepeated && repeated) || (await requestTo(stage, route, row, world));
    const { cookie } = isAlone ? await callerOf(trace, kind, world) : callers[kind];
    const answer = await send(cookie);
    expect(answer.status, `${kind}: ${answer.text}`).toBe(row[kind]);
    if (answer.status === 403) expect(answer.body.status).toBe('UNAUTHORIZED');
  });
}

/** Asks at trace backends with the other values of AUTH_MODE, without a cookie and as a member. */
export async function eachMode(stage: Stage, route: string, row: Row): Promise<void> {
  const { trace, common, callers } = stage;
  const refused = row.open ?? 401;
  const isAlone = !changesNothing(route, row, row.member) && changesCallers(route);
  await forEach(row, stage.others, async at => {
    const world = isAlone ? await makeWorld(trace) : common;
    const send = await requestTo(stage, route, row, world);
    const nobody = await send(undefined, at);
    expect(nobody.status, `nobody: ${nobody.text}`).toBe(refused);
    const { cookie } = isAlone ? await callerOf(trace, 'member', world) : callers.member;
    const again = changesNothing(route, row, refused) ? send : await requestTo(stage, route, row, world);
    const member = await again(cookie, at);
    expect(member.status, `member: ${member.text}`).toBe(row.member);
  });
}

/** Asks for each media type, and compares the answers with the definition. */
export async function eachMediaType(stage: Stage, route: string, row: Row): Promise<void> {
  const { trace, common } = stage;
  const { accepts, wrongIn } = stage.mediaTypes;
  const defined = route.replace(/(?<=\/execute\/)\w+$/, '{action}');
  const isRepeated = changesNothing(route, row, row.administrator);
  const isAlone = !isRepeated && changesCallers(route);
  const repeated = isRepeated ? await requestTo(stage, route, row, common) : undefined;
  await forEach(row, accepts, async accept => {
    const world = isAlone ? await makeWorld(trace) : common;
    const send = repeated ?? (await requestTo(stage, route, row, world));
    const answer = await send(world.owner.cookie, trace, { accept });
    expect(answer.status, `Accept: ${accept} ${answer.text}`).not.toBe(503);
    expect(wrongIn(defined, answer), `Accept: ${accept}`).toBeUndefined();
  });
}

/** Asks with each cookie that must not count. */
export async function eachBadCookie(stage: Stage, route: string, row: Row): Promise<void> {
  const expected = row.open ?? 401;
  const repeated = changesNothing(route, row, expected)
    ? await requestTo(stage, route, row, stage.common)
    : undefined;
  await forEach(row, Object.entries(stage.bad), async ([kind, cookie]) => {
    const answer = await (repeated ?? (await requestTo(stage, route, row, stage.common)))(cookie);
    expect(answer.status, `${kind}: ${answer.text}`).toBe(expected);
    if (row.open === undefined && !route.startsWith('HEAD ')) {
      expect(answer.body).toEqual({ status: 'AUTH_ERROR', errorMessage: expect.any(String) });
    }
  });
}
