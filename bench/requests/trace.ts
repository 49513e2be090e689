import type { RequestMaker } from '../load.ts';
import { post } from './scouting.ts';

/** Logins, or one path again and again: the profile unless another is named. */
export default function traceRequests({
  cookie,
  path = '/api/user/profile',
  accept,
  login,
}: {
  cookie?: string;
  path?: string;
  accept?: string;
  login?: object;
}): RequestMaker {
  if (login) {
    const request = post('/api/user/login', JSON.stringify(login));
    return () => request;
  }
  const headers = [cookie && `cookie: ${cookie}`, accept && `accept: ${accept}`].filter(Boolean);
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers.map(line => `${line}\r\n`).join('')}\r\n`;
  return () => request;
}
