import type { RequestMaker } from '../load.ts';

/** GETs of the given paths, one after the other, in an order that jumps about. */
export default function readRequests({ paths, accept }: { paths: string[]; accept?: string }): RequestMaker {
  const headers = `host: localhost\r\n${accept ? `accept: ${accept}\r\n` : ''}\r\n`;
  const requests = paths.map(path => Buffer.from(`GET ${path} HTTP/1.1\r\n${headers}`));
  return n => requests[(n * 7919) % requests.length] as Buffer;
}
