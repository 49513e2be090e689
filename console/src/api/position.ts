const POSITION = 'fieldtrace-position';
const SERVICE = '/packet/';

/** The position of the last change. Reads that send it see that change, even from a replica. */
let position: string | undefined;

/** Asks the packet service for an answer that contains all changes of this page. */
export function sendPosition(request: Request): void {
  if (position !== undefined && isForService(request)) request.headers.set(POSITION, position);
}

/** Remembers the position that the answer to a change carries. */
export function keepPosition(request: Request, response: Response): void {
  if (isForService(request)) position = response.headers.get(POSITION) ?? position;
}

function isForService({ url }: Request): boolean {
  return new URL(url).pathname.startsWith(SERVICE);
}
