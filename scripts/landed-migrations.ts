import { hash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

// Adds the checksums of new migrations to the list that a test checks. A checksum that is there is kept: a migration
// that has landed is never edited, because databases in which it ran would refuse to start.
const root = path.resolve(import.meta.dirname, '..');
const list = path.join(root, 'test/landed-migrations.json');
const landed: Record<string, string> = JSON.parse(readFileSync(list, 'utf8'));
for (const file of globSync('src/*/migrations/*.sql', { cwd: root }).sort()) {
  landed[file.replaceAll(path.sep, '/')] ??= hash(
    'sha256',
    readFileSync(path.join(root, file), 'utf8'),
    'hex',
  );
}
writeFileSync(list, `${JSON.stringify(landed, Object.keys(landed).sort(), 2)}\n`);
