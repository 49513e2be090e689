import { sessionFetch } from '../../api/session-fetch.ts';
import { tilesOf, type View } from './view.ts';

/** Answers of tiles that do not exist: an asset registry has the fields. */
const NOT_IMPLEMENTED = 501;
const PARCELS = '/packet/tiles/fields/';
/** How long an answer without fields counts, in milliseconds: others may register some. */
const KEPT_MS = 60_000;
/** Maximum tiles that are requested before there is a map. */
const MAX_AHEAD = 24;

let none: { isSo: Promise<boolean>; since: number } | undefined;
const ahead = new Map<string, Promise<ArrayBuffer>>();

/**
 * The bytes of a tile. Where no field is registered anywhere, tiles of fields are empty without a request: browsers open
 * six connections, and observations wait for the others.
 *
 * @param address of the protocol `session`
 * @throws Error of an answer that is no tile, and what fetch throws
 */
export async function loadTile(address: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const path = pathOf(address);
  if (path.startsWith(PARCELS) && (await hasNoParcels())) return new ArrayBuffer(0);
  const tile = ahead.get(path);
  ahead.delete(path);
  return tile ?? ask(path, signal);
}

/** Requests the tiles of a view while the files of the map are still loading. */
export function loadAhead(address: string, view: View, size: { width: number; height: number }): void {
  void hasNoParcels();
  for (const { z, x, y } of tilesOf(view, size).slice(0, MAX_AHEAD)) {
    const path = pathOf(address.replace('{z}/{x}/{y}', `${z}/${x}/${y}`));
    const tile = ask(path);
    // loadTile reports the failure.
    tile.catch(() => {});
    ahead.set(path, tile);
  }
}

/** Drops the tiles that were requested ahead and are not shown. */
export function forgetAhead(): void {
  ahead.clear();
}

/** Requests fields again, for example after one was registered. */
export function forgetParcels(): void {
  none = undefined;
}

/** Whether the tile of the world has no fields; false if it cannot be loaded. */
function hasNoParcels(): Promise<boolean> {
  if (!none || performance.now() - none.since > KEPT_MS) {
    const isSo = ask(`${PARCELS}0/0/0.mvt`).then(
      ({ byteLength }) => byteLength === 0,
      () => false,
    );
    none = { isSo, since: performance.now() };
  }
  return none.isSo;
}

const pathOf = (address: string) => address.replace('session://', '/');

async function ask(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  const response = await sessionFetch(new Request(path, signal ? { signal } : {}));
  if (response.status === NOT_IMPLEMENTED) return new ArrayBuffer(0);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.arrayBuffer();
}
