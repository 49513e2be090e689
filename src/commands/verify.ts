import { SingleBar } from 'cli-progress';
import { packetServiceLacks } from '../packet-service/app.ts';
import { type VerifiedCounts, verifyDatabase } from '../packet-service/maintenance/verify/verify.ts';
import { type Connection, withPool } from '../platform/database/database.ts';
import type { FileStore } from '../platform/files/index.ts';
import { Problem } from '../platform/http/problems.ts';
import { SCHEMA as TRACE_SCHEMA, traceBackendLacks } from '../trace-backend/app.ts';
import { verifyImages } from '../trace-backend/catalogue/images/verify.ts';

/** The result of verifying a database and its files. */
export interface Verified {
  /** in words */
  summary: string;
  mismatches: number;
  /** how many of them are files that are not in the store */
  missingFiles: number;
}

/**
 * Verifies what both services keep, as far as it is there. Prints each mismatch and each packet that was erased as a
 * line of its own; on a terminal, how far it is.
 *
 * @throws Problem when the database is older than this version, or empty; MigrationError when it is newer
 */
export async function verifyEverything(
  connection: Connection,
  files: FileStore,
  threads?: number,
): Promise<Verified> {
  const packet = await isCurrent(packetServiceLacks(connection));
  const trace = await isCurrent(traceBackendLacks(connection));
  if (!packet && !trace) throw new Problem('command.nothing_to_verify');
  const kept: string[] = [];
  let mismatches = 0;
  let missingFiles = 0;
  if (packet) {
    const counts = await verifyPackets(connection, files, threads, () => missingFiles++);
    mismatches += counts.mismatches;
    kept.push(...inWords(counts));
  }
  if (trace) {
    const count = await withPool(connection, TRACE_SCHEMA, pool =>
      verifyImages(pool, files, ({ storageKey, fault, isMissingFile }) => {
        mismatches += 1;
        if (isMissingFile) missingFiles += 1;
        console.log(`image ${storageKey}: ${fault}`);
      }),
    );
    kept.push(`${figure(count)} images and documents`);
  }
  const outcome = mismatches === 0 ? 'nothing differs' : `${figure(mismatches)} mismatches`;
  return { summary: `verified ${kept.join(', ')}: ${outcome}`, mismatches, missingFiles };
}

/** Whether a service has tables here. @throws Problem when they are older than this version */
async function isCurrent(lacking: Promise<string[] | undefined>): Promise<boolean> {
  const names = await lacking;
  if (names === undefined) return false;
  if (names.length === 0) return true;
  throw new Problem('command.database_too_old', { names: names.join(', ') });
}

async function verifyPackets(
  connection: Connection,
  files: FileStore,
  threads: number | undefined,
  onMissingFile: () => void,
): Promise<VerifiedCounts> {
  const format = '{bar} {value} packets, {files} files';
  const bar = new SingleBar({ format, noTTYOutput: false, stream: process.stderr });
  let printedAt = 0;
  try {
    return await verifyDatabase({
      connection,
      files,
      ...(threads !== undefined && { threads }),
      onMismatch({ subject, fault, isMissingFile }) {
        console.log(`${subject}: ${fault}`);
        if (isMissingFile) onMissingFile();
      },
      onErased: ({ packetId, at }) => console.log(`packet ${packetId}: was erased on ${at.toISOString()}`),
      onProgress(counts) {
        if (!process.stderr.isTTY || Date.now() - printedAt < 100) return;
        const total = Math.max(counts.entries, counts.packets);
        if (printedAt === 0) bar.start(total, 0, { files: 0 });
        printedAt = Date.now();
        bar.update(counts.packets, { files: counts.files });
      },
    });
  } finally {
    bar.stop();
  }
}

function inWords({
  packets,
  erased,
  messages,
  attachments,
  files,
  bytes,
  entries,
}: VerifiedCounts): string[] {
  return [
    `${figure(packets)} packets (${figure(erased)} of them erased)`,
    `${figure(messages)} messages`,
    `${figure(attachments)} attachments in ${figure(files)} files of ${figure(bytes)} bytes`,
    `${figure(entries)} entries of the log`,
  ];
}

function figure(count: number): string {
  return count.toLocaleString('en');
}
