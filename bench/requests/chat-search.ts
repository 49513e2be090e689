import type { RequestMaker } from '../load.ts';
import { post } from './scouting.ts';

/** Searches of a user, one keyword after the other, a page each. */
export default function chatSearchRequests({
  user,
  keywords,
  limit,
}: {
  user: string;
  keywords: string[];
  limit: number;
}): RequestMaker {
  const requests = keywords.map(keyword =>
    post('/chat/query', JSON.stringify({ user_id: user, keyword, limit })),
  );
  return n => requests[n % requests.length] as string;
}
