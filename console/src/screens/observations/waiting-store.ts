import type { Waiting } from './waiting.ts';

const NAME = 'observations';

let opening: Promise<IDBDatabase> | undefined;

function openWaiting(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('fieldtrace', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(NAME, { keyPath: 'key' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

/** Runs one request in a transaction of its own; resolves when it is on the disk. */
async function run<Result>(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await openWaiting();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(NAME, mode, { durability: 'strict' });
    const request = ask(transaction.objectStore(NAME));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error ?? request.error);
  });
}

/** A user's waiting observations in this browser, oldest first. */
export async function listWaiting(user: string): Promise<Waiting[]> {
  const all = await run<Waiting[]>('readonly', store => store.getAll());
  return all.filter(waiting => waiting.user === user).sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Stores an observation, or what has changed of it. */
export async function keepWaiting(waiting: Waiting): Promise<void> {
  await run('readwrite', store => store.put(waiting));
}

export async function removeWaiting(key: string): Promise<void> {
  await run('readwrite', store => store.delete(key));
}
