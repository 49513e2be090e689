import { expect, test } from 'vitest';
import { Failure } from '../../api/failure.ts';
import { newAttachmentId } from '../../api/ulid.ts';
import { type Sending, sendWaiting } from './send.ts';
import type { Waiting } from './waiting.ts';

const photo = (id: string) => ({ id, name: `${id}.jpg`, content: new Blob([id]) });
const made: Waiting = {
  key: 'key-1',
  user: '7',
  at: '2026-03-01T08:15:00Z',
  body: { message: 'Leaf rust' },
  photos: [photo('att_1'), photo('att_2')],
};

/** A service that can be set to fail, and records its requests. */
function service(failAt: Record<string, Failure> = {}) {
  const got: string[] = [];
  let kept: Waiting | undefined = made;
  const take = (what: string) => {
    if (failAt[what]) throw failAt[what];
    got.push(what);
  };
  const sending: Sending = {
    async postObservation(_body, key) {
      take(key);
      return 'packet-1';
    },
    async postPhoto({ id }) {
      take(id);
    },
    async keep(waiting) {
      kept = waiting;
    },
    async remove() {
      kept = undefined;
    },
  };
  return { sending, got, kept: () => kept };
}

test('an observation is sent before its photos, and leaves', async () => {
  const { sending, got, kept } = service();
  expect(await sendWaiting(made, sending)).toBe('sent');
  expect([got, kept()]).toEqual([['key-1', 'att_1', 'att_2'], undefined]);
});

test('sending continues where a lost connection interrupted it', async () => {
  const first = service({ att_2: new Failure('offline', 0) });
  expect(await sendWaiting(made, first.sending)).toBe('later');
  const left = first.kept() as Waiting;
  expect([left.packet, left.photos.map(({ id }) => id), left.refused]).toEqual([
    'packet-1',
    ['att_2'],
    undefined,
  ]);
  const second = service();
  expect(await sendWaiting(left, second.sending)).toBe('sent');
  expect(second.got).toEqual(['att_2']);
});

test('temporary failures are retried, and refused observations are kept with the reason', async () => {
  for (const status of [0, 401, 408, 429, 500, 503])
    expect(await sendWaiting(made, service({ 'key-1': new Failure('away', status) }).sending)).toBe('later');
  const { sending, kept } = service({ 'key-1': new Failure('observed_at is in the future', 400) });
  expect(await sendWaiting(made, sending)).toBe('refused');
  expect(kept()).toEqual({ ...made, refused: 'observed_at is in the future' });
});

test('an error of the program does not count as an answer', async () => {
  const { sending } = service();
  const broken = { ...sending, keep: () => Promise.reject(new TypeError('no disk')) };
  await expect(sendWaiting(made, broken)).rejects.toThrow('no disk');
});

test('each photo has its own id: att_ and a ULID', () => {
  const ids = Array.from({ length: 100 }, () => newAttachmentId(Date.UTC(2026, 2, 1)));
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  expect(newAttachmentId(0)).toMatch(/^att_0{10}/);
});
