import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the process under measurement (node --import): measures the processor time that the event loop spends
 * between two runs of a timer of 1 ms. At SIGUSR2 the longest since the last signal is written to TURNS_FILE, in
 * milliseconds. Unlike a latency it does not grow when other processes take the processor.
 */
const file = process.env.TURNS_FILE;
if (isMainThread && file !== undefined) {
  let longest = 0;
  let last = process.threadCpuUsage();
  const tick = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, (now.user + now.system - last.user - last.system) / 1000);
    last = now;
    setTimeout(tick, 1).unref();
  };
  tick();
  process.on('SIGUSR2', () => {
    writeFileSync(file, String(longest));
    longest = 0;
  });
}
