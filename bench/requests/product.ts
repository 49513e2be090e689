import type { RequestMaker } from '../load.ts';

/** Products created from one body, read by ids spread over all of them, or one path again and again. */
export default function productRequests({
  cookie,
  path,
  ids = 1,
  body,
}: {
  cookie: string;
  path?: string;
  ids?: number;
  body?: object;
}): RequestMaker {
  const head = `host: localhost\r\ncookie: ${cookie}\r\n`;
  if (body) {
    const text = JSON.stringify(body);
    const length = Buffer.byteLength(text);
    const request =
      `POST /api/product/create HTTP/1.1\r\n${head}content-type: application/json\r\n` +
      `content-length: ${length}\r\n\r\n${text}`;
    return () => request;
  }
  return n => `GET ${path ?? `/api/product/${1 + ((n * 7919) % ids)}`} HTTP/1.1\r\n${head}\r\n`;
}
