import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** A package to publish; `program` becomes its bin/node. */
export interface FakePackage {
  name: string;
  version: string;
  program?: string;
}

/** An npm registry on loopback. */
export interface NpmRegistry {
  url: string;
  /** the integrity that package-lock.json records */
  integrity(name: string): string;
  close(): Promise<void>;
}

/** Serves packages that are made in a folder. */
export async function npmRegistry(folder: string, packages: FakePackage[]): Promise<NpmRegistry> {
  const archives = new Map(packages.map(item => [item.name, { ...item, bytes: pack(folder, item) }]));
  const integrity = (name: string) => {
    const hash = createHash('sha512').update(archives.get(name)?.bytes as Buffer);
    return `sha512-${hash.digest('base64')}`;
  };
  const server = createServer((request, response) => {
    const [name = '', file] = (request.url ?? '').slice(1).split('/-/');
    const found = archives.get(name);
    if (found === undefined) {
      response.writeHead(404).end('{}');
    } else if (file !== undefined) {
      response.end(found.bytes);
    } else {
      const { version } = found;
      const dist = { tarball: `${url()}/${name}/-/${name}-${version}.tgz`, integrity: integrity(name) };
      const versions = { [version]: { name, version, dist } };
      response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    }
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: url(),
    integrity,
    close: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function pack(folder: string, { name, version, program }: FakePackage): Buffer {
  const home = path.join(folder, 'packages', name);
  mkdirSync(path.join(home, 'package/bin'), { recursive: true });
  writeFileSync(path.join(home, 'package/package.json'), JSON.stringify({ name, version }));
  if (program !== undefined) {
    writeFileSync(path.join(home, 'package/bin/node'), program);
    chmodSync(path.join(home, 'package/bin/node'), 0o755);
  }
  execFileSync('tar', ['-czf', `${home}.tgz`, '-C', home, 'package']);
  return readFileSync(`${home}.tgz`);
}
