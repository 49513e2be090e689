import type { RequestMaker } from '../load.ts';

/** Products created from one body or changed, read by ids spread over all of them, or one path again and again. */
export default function productRequests({
  cookie,
  path,
  ids = 1,
  body,
  isUpdate,
}: {
  cookie: string;
  path?: string;
  ids?: number;
  body?: object;
  /** whether products are changed: their descriptions become different ones */
  isUpdate?: boolean;
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
  if (isUpdate) {
    return n => {
      const text = JSON.stringify({ id: 1 + ((n * 7919) % ids), description: `Picked in week ${n}` });
      return `PUT /api/product HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    };
  }
  return n => `GET ${path ?? `/api/product/${1 + ((n * 7919) % ids)}`} HTTP/1.1\r\n${head}\r\n`;
}
