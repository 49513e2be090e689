import type { RequestMaker } from '../load.ts';
import { post } from './scouting.ts';

/** Logins, or one path again and again: the profile unless another is named. */
export default function traceRequests({
  cookie,
  path = '/api/user/profile',
  login,
}: {
  cookie?: string;
  path?: string;
  login?: object;
}): RequestMaker {
  if (login) {
    const request = post('/api/user/login', JSON.stringify(login));
    return () => request;
  }
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${cookie ? `cookie: ${cookie}\r\n` : ''}\r\n`;
  return () => request;
}
