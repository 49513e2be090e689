import { expect, test } from 'vitest';
import { type Block, withEarlier, withLater } from './blocks.ts';

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ packet_id: String(from + n) }));
type Blocks = Block<{ packet_id: string }>[];
const ids = (blocks: Blocks) =>
  blocks.flatMap(block => block.messages.map(({ packet_id }) => Number(packet_id)));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test('pages of earlier messages are put before, later ones after, and each message is there once', () => {
  let blocks: Blocks = withEarlier([], messages(800, 1000));
  blocks = withEarlier(blocks, messages(550, 800));
  for (let at = 1000; at < 1230; at += 23) blocks = withLater(blocks, messages(at - 5, at + 23));
  expect(ids(blocks)).toEqual(range(550, 1230));
  for (const block of blocks) expect(block.messages.length).toBeLessThanOrEqual(100);
  expect(new Set(blocks.map(({ key }) => key)).size).toBe(blocks.length);
});

test('blocks that do not change stay the same objects, so that nothing of them is drawn again', () => {
  const before = withEarlier<{ packet_id: string }>([], messages(0, 250));
  const after = withLater(before, messages(250, 260));
  expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(withLater(before, messages(240, 250))).toEqual(before);
});
