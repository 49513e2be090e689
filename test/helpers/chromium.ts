import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { whileLocked } from '../../src/platform/embedded-postgres/file-lock.ts';

const MODULES = path.resolve(import.meta.dirname, '../../node_modules');
const PACKAGE = path.join(MODULES, '@sparticuz/chromium');

/** Where other systems have a browser of their own. */
const INSTALLED = ['/usr/bin/chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** A browser to start, with the environment that it needs. */
export interface Chromium {
  executablePath: string;
  env: Record<string, string>;
}

/**
 * The headless Chromium of the npm package @sparticuz/chromium, unpacked once into node_modules/.cache with the
 * libraries and fonts that a minimal machine lacks. The package is built for Linux on x64 with glibc; elsewhere it
 * is the Chromium or Chrome that is installed.
 *
 * @throws Error that says what to install
 */
export async function findChromium(): Promise<Chromium> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return findInstalled();
  const { version } = JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'));
  const cache = path.join(MODULES, '.cache');
  const folder = path.join(cache, `chromium-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const lock = path.join(cache, 'chromium.lock');
    await writeFile(lock, '', { flag: 'a' });
    await whileLocked(
      lock,
      () => {},
      async () => {
        if (!existsSync(folder)) await unpack(cache, folder);
      },
    );
  }
  return {
    executablePath: path.join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: path.join(folder, 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') },
  };
}

function findInstalled(): Chromium {
  const executablePath = INSTALLED.find(file => existsSync(file));
  if (executablePath === undefined)
    throw new Error(`no browser: none of ${INSTALLED.join(', ')} is installed`);
  return { executablePath, env: {} };
}

/** The folder gets its name when it is complete. */
async function unpack(cache: string, folder: string): Promise<void> {
  const fresh = await mkdtemp(path.join(cache, 'chromium-new-'));
  try {
    await pipeline(
      createReadStream(path.join(PACKAGE, 'bin/chromium.br')),
      createBrotliDecompress({ chunkSize: 2 ** 21 }),
      createWriteStream(path.join(fresh, 'chromium'), { mode: 0o755 }),
    );
    for (const archive of ['al2023', 'fonts', 'swiftshader']) {
      const input = brotliDecompressSync(readFileSync(path.join(PACKAGE, `bin/${archive}.tar.br`)));
      const { status, stderr } = spawnSync('tar', ['-xf', '-', '-C', fresh], { input, encoding: 'utf8' });
      if (status !== 0) throw new Error(`tar ended with ${status}: ${stderr}`);
    }
    // The one in the package names folders of another machine.
    await writeFile(path.join(fresh, 'fonts.conf'), fontConfiguration(folder));
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
}
