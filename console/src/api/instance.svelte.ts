import { answered, trace } from './services.ts';

/** The name of the instance, which an administrator chooses. */
let name = $state<string | undefined>(undefined);

/** Where the browser keeps it for use without a connection. */
const STORED = 'instance';
/** How long the page waits for it, in milliseconds. */
const PATIENCE_MS = 5000;

/** The global setting of the trace backend with the name. */
const NAME_SETTING = 'INSTANCE_NAME';

export function instanceName(): string {
  return name ?? 'fieldtrace';
}

/** Whether an administrator has chosen a name. */
export function isNamed(): boolean {
  return name !== undefined;
}

function setInstanceName(chosen: string): void {
  name = chosen;
  localStorage.setItem(STORED, chosen);
}

/** Reads the name; without an answer, the last one that was read stays. */
export async function loadInstanceName(): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(`/trace/api/public/globalSettings/${NAME_SETTING}`, { signal }).catch(
    () => undefined,
  );
  if (!answer?.ok) {
    name = localStorage.getItem(STORED) ?? undefined;
    return;
  }
  const { data } = (await answer.json()) as { data: { value?: string } };
  if (data.value) setInstanceName(data.value);
}

/** Interval between requests for the name while the page is visible, in milliseconds. */
const EVERY_MS = 60_000;

/**
 * Keeps up with the name: other tabs of the browser say at once that it has changed, and for changes of others it is
 * asked for when the page is seen again, and now and then.
 *
 * @returns what ends it
 */
export function followInstanceName(): () => void {
  let requestedAt = Date.now();
  const look = () => {
    if (document.visibilityState !== 'visible' || Date.now() - requestedAt < EVERY_MS / 2) return;
    requestedAt = Date.now();
    void loadInstanceName().catch(() => {});
  };
  const change = ({ key, newValue }: StorageEvent) => {
    if (key === STORED && newValue) name = newValue;
  };
  const timer = setInterval(look, EVERY_MS);
  document.addEventListener('visibilitychange', look);
  addEventListener('storage', change);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
    removeEventListener('storage', change);
  };
}

/**
 * Changes the name for everyone.
 *
 * @throws Failure
 */
export async function saveInstanceName(chosen: string): Promise<void> {
  const params = { path: { name: NAME_SETTING } };
  const body = { value: chosen, isPublic: true };
  await answered(trace.POST('/api/common/globalSettings/{name}', { params, body }));
  setInstanceName(chosen);
}
