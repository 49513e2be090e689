import type { RequestMaker } from '../load.ts';

/** Companies created from one body, profiles read by ids spread over all of them, or one path again and again. */
export default function companyRequests({
  cookie,
  path = '/api/company/create',
  ids,
  body,
}: {
  cookie: string;
  path?: string;
  ids?: number;
  body?: object;
}): RequestMaker {
  const head = `HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n`;
  if (ids !== undefined) return n => `GET /api/company/profile/${1 + ((n * 7919) % ids)} ${head}\r\n`;
  if (!body) return () => `GET ${path} ${head}\r\n`;
  const text = JSON.stringify(body);
  const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
  return () => `POST ${path} ${head}${type}\r\n${text}`;
}
