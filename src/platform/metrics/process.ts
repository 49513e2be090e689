import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Server } from '../http/server.ts';
import { countDroppedLines } from '../logging/log-stream.ts';
import { countKilled } from '../runs/runs.ts';
import type { Settings } from '../settings/settings.ts';
import { VERSION } from '../version.ts';
import { countStalls } from './event-loop.ts';
import { sampled } from './sampled.ts';

/** Metrics of the process and of the disk of DATA_DIR. */
export function measureProcess(
  app: Server,
  registry: Registry,
  { DATA_DIR }: Pick<Settings, 'DATA_DIR'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'fieldtrace_build_info',
    help: 'always 1, labelled with the versions of fieldtrace and Node',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.versions.node }, 1);
  new Counter({
    name: 'event_loop_stalls_total',
    help: 'times that the process stalled for more than a second because it was paused or busy',
    registers,
    collect() {
      this.reset();
      this.inc(countStalls());
    },
  });
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'log lines that could not be written',
    registers,
    collect() {
      this.reset();
      this.inc(countDroppedLines());
    },
  });
  new Gauge({
    name: 'earlier_processes_killed',
    help: 'earlier processes that had ended without stopping, found when this process started',
    registers,
    collect() {
      this.set(countKilled());
    },
  });
  const clients = new Counter({
    name: 'clients_cut_off_total',
    help: 'clients disconnected because they stalled or read an export too slowly, by where they stalled',
    labelNames: ['in'],
    registers,
    collect() {
      this.reset();
      for (const [name, count] of Object.entries(app.cutOff)) this.inc({ in: name }, count);
    },
  });
  clients.reset();
  measureDisk(app, registry, path.resolve(DATA_DIR));
}

function measureDisk(app: Server, registry: Registry, folder: string): void {
  const disk = sampled(app, () => statfs(folder));
  const gauge = (name: string, help: string, field: 'bavail' | 'blocks') =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const stats = disk();
        if (stats) this.set(stats[field] * stats.bsize);
        else this.reset();
      },
    });
  gauge('disk_free_bytes', 'free space of the file system of DATA_DIR', 'bavail');
  gauge('disk_size_bytes', 'size of the file system of DATA_DIR', 'blocks');
}
