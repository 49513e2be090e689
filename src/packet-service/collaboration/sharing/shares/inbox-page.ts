import { escaped, pageOf, UNLISTED } from '../../../../platform/http/page.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import type { Share } from './store.ts';

/** Shares on the page. */
const SHOWN = 100;

/** Sends the decision about a share, and shows the inbox again. */
const SCRIPT = `
const says = document.querySelector('output');
document.addEventListener('click', async event => {
  const { share, verb } = event.target.dataset;
  if (!share) return;
  try {
    const answer = await fetch(share + '/' + verb, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: says.dataset.user }),
    });
    if (answer.ok) location.reload();
    else says.textContent = (await answer.json()).error;
  } catch {
    says.textContent = 'The server cannot be reached; try again.';
  }
});
`;

/**
 * The inbox of a user for a browser, as the mail about a share links it: what is new, with buttons.
 *
 * @param shares yields the shares, newest first, up to a number
 */
export async function inboxPage(userId: string, shares: (wanted: number) => AsyncGenerator<Share[]>) {
  const listed: Share[] = [];
  for await (const batch of shares(SHOWN + 1)) listed.push(...batch);
  const items = listed.slice(0, SHOWN).map(item).join('\n');
  const more = listed.length > SHOWN ? '<p>Older ones are in your field app.</p>' : '';
  return pageOf({
    title: 'Your inbox',
    by: `What was shared with ${userId}`,
    sections: `<section><output data-user="${escaped(userId)}"></output>
${items === '' ? '<p>Nothing was shared with you yet.</p>' : items}${more}</section>`,
    head: UNLISTED,
    script: SCRIPT,
  });
}

/** A status in the words of the buttons. */
const said = (status: Share['status']) => (status === 'rejected' ? 'declined' : status);

function item({ shareId, packetId, fromUser, status, createdAt }: Share): string {
  const share = uuidToUlid(shareId);
  const button = (verb: string, kind: string, text: string) =>
    `<button class="${kind}" data-share="${share}" data-verb="${verb}">${text}</button>`;
  const buttons =
    status === 'pending'
      ? button('accept', '', 'Accept') + button('reject', 'other', 'Decline')
      : said(status);
  const at = createdAt.toISOString();
  return `<div class="item"><a href="../packets/${uuidToUlid(packetId)}">An observation</a> from
<bdi>${escaped(fromUser)}</bdi>, <time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time><br>${buttons}</div>`;
}
