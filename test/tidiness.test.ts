import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { type Node, parse } from 'acorn';
import { full } from 'acorn-walk';
import { expect, test } from 'vitest';
import { outlines } from '../scripts/outlines.ts';
import { reasonTables } from '../scripts/reasons-page.ts';
import { settingsTable } from '../scripts/settings-table.ts';
import { PLACEMENTS } from '../src/packet-service/core/contract/placements.ts';
import { ADVISORY_LOCKS, HASHED_LOCKS } from '../src/platform/database/locks/advisory-locks.ts';
import { catalogue } from '../src/platform/http/reasons/catalogue.ts';
import { commandReasons } from '../src/platform/http/reasons/commands.ts';
import { consoleReasons } from '../src/platform/http/reasons/console.ts';
import { geometryReasons } from '../src/platform/http/reasons/geometry.ts';
import { packetReasons } from '../src/platform/http/reasons/packet-service.ts';
import { platformReasons } from '../src/platform/http/reasons/platform.ts';
import { traceReasons } from '../src/platform/http/reasons/trace-backend.ts';
import { oddPhrases, proseOf } from './helpers/odd-phrases.ts';

const root = path.resolve(import.meta.dirname, '..');
const files = globSync('{{src,messages,test,bench,scripts}/**/*.{ts,mjs},console/src/**/*.ts}', { cwd: root })
  .map(file => file.replaceAll(path.sep, '/'))
  .filter(file => !file.includes('/generated/'));
const sources = files.filter(file => file.startsWith('src/') && !isTest(file));
const consoleSources = globSync('console/src/**/*.{ts,svelte}', { cwd: root })
  .map(file => file.replaceAll(path.sep, '/'))
  .filter(file => !file.includes('/generated/') && !isTest(file));
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.startsWith('test/') || file.includes('/fixtures/');
}

/** The project's own files that a file imports, by their path from the root. */
function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    match => match[1] as string,
  );
  return specifiers
    .map(specifier => path.posix.join(path.posix.dirname(file), specifier))
    .filter(imported => !imported.includes('/generated/'));
}

test('platform and geometry import neither service, and the services never import each other', () => {
  for (const file of sources) {
    for (const imported of importsOf(file)) {
      if (file.startsWith('src/geometry/')) expect(imported, file).toMatch(/^src\/(geometry|platform)\//);
      if (file.startsWith('src/platform/'))
        expect(imported, file).toMatch(/^(src\/platform\/|messages\/fill\.ts$)/);
      if (file.startsWith('src/packet-service/')) expect(imported, file).not.toMatch(/^src\/trace-backend\//);
      if (file.startsWith('src/trace-backend/')) expect(imported, file).not.toMatch(/^src\/packet-service\//);
    }
  }
});

/**
 * What imports only what is below it: in each line the folders and files of a root that do not import each other, from
 * the lowest on. A file that is not named belongs to its folder.
 */
const LAYERS: Record<string, string[][]> = {
  'src/packet-service': [
    ['core'],
    ['collaboration'],
    ['intake', 'reading'],
    ['maintenance'],
    ['metrics.ts', 'stop-with.ts'],
    ['app.ts'],
  ],
  'src/trace-backend': [
    ['base'],
    ['identity'],
    ['catalogue'],
    ['supply-chain'],
    ['public'],
    ['personal-data', 'server.ts', 'record-kinds.ts', 'user-registry.ts'],
    ['app.ts'],
  ],
  'console/src': [
    ['messages', 'address', 'offline'],
    ['api'],
    ['parts'],
    ['screens'],
    ['entrance', 'shell'],
    ['App.svelte'],
    ['main.ts'],
  ],
};

test.each(Object.entries(LAYERS))('groups of %s import only groups below them', (rootFolder, layers) => {
  const groupOf = (file: string) => file.slice(rootFolder.length + 1).split('/')[0] as string;
  const layerOf = (group: string) => layers.findIndex(groups => groups.includes(group));
  const ours = [...sources, ...consoleSources].filter(file => file.startsWith(`${rootFolder}/`));
  for (const file of ours) {
    const group = groupOf(file);
    expect(layerOf(group), `${file}: the layer of ${group}`).toBeGreaterThanOrEqual(0);
    for (const imported of importsOf(file).filter(name => name.startsWith(`${rootFolder}/`))) {
      const target = groupOf(imported);
      if (target !== group && !imported.endsWith('.css'))
        expect(layerOf(target), `${file} imports ${imported}`).toBeLessThan(layerOf(group));
    }
  }
});

test('the console imports nothing of the services', () => {
  for (const file of consoleSources)
    for (const imported of importsOf(file))
      expect(imported, file).toMatch(/^(console\/src\/|messages\/(fill\.ts|languages\.json)$)/);
});

test('tests that run programs of Debian`s archive let test/helpers/debian.ts install them', () => {
  const programs =
    /\b(runGuide|followGuide)\(|'(caddy|curl|nginx|ogr2ogr|openssl|pgbouncer|promtool|psql|systemd-analyze)'/;
  for (const file of files.filter(name => name.endsWith('.test.ts') && name !== 'test/tidiness.test.ts')) {
    if (programs.test(textOf(file))) expect(importsOf(file), file).toContain('test/helpers/debian.ts');
  }
});

test('routes are called by app.ts alone', () => {
  for (const file of sources) {
    const routes = importsOf(file).filter(imported => imported.endsWith('/routes.ts'));
    if (!file.endsWith('/app.ts')) expect(routes, file).toEqual([]);
  }
});

test('the authorisation tables list what the definitions do; only open pages are left out of them', () => {
  const hidden = sources.filter(file => /\bhide: /.test(textOf(file)));
  expect(hidden.sort()).toEqual([
    'src/packet-service/reading/graph/graph-page.ts',
    'src/platform/http/pipeline/definition.ts',
    'src/platform/metrics/metrics.ts',
  ]);
});

test('imports are not circular', () => {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]) => {
    expect(trail, [...trail, file].join(' → ')).not.toContain(file);
    if (done.has(file)) return;
    for (const imported of importsOf(file)) visit(imported, [...trail, file]);
    done.add(file);
  };
  for (const file of [...files, ...consoleSources]) visit(file, []);
});

test.each([
  ['src', sources],
  ['console/src', consoleSources],
])('folders of %s make no circles, at any depth', (_root, all) => {
  const deepest = Math.max(...all.map(file => file.split('/').length));
  for (let depth = 2; depth < deepest; depth++) {
    const folderOf = (file: string) => path.posix.dirname(file).split('/').slice(0, depth).join('/');
    const imports = new Map<string, Set<string>>();
    for (const file of all) {
      const from = folderOf(file);
      const known = imports.get(from) ?? new Set();
      for (const imported of importsOf(file)) if (folderOf(imported) !== from) known.add(folderOf(imported));
      imports.set(from, known);
    }
    const done = new Set<string>();
    const visit = (folder: string, trail: string[]) => {
      expect(trail, `depth ${depth}: ${[...trail, folder].join(' → ')}`).not.toContain(folder);
      if (done.has(folder)) return;
      for (const imported of imports.get(folder) ?? []) visit(imported, [...trail, folder]);
      done.add(folder);
    };
    for (const folder of imports.keys()) visit(folder, []);
  }
});

test('only routes and what is about HTTP itself know requests', () => {
  const allowed =
    /\/routes\.ts$|^src\/platform\/http\/|^src\/console\/|\/access\/(authentication|caller|requester)\.ts$|\/form\.ts$|packet-service\/(core\/idempotency\/idempotency|intake\/attachments\/uploads|collaboration\/sharing\/directory\/rate-limit)\.ts$/;
  for (const file of sources.filter(name => !allowed.test(name)))
    expect(textOf(file), file).not.toMatch(/\bFastifyRequest\b/);
});

test('limits and counters of work belong to an application, never to a module', () => {
  const made =
    /^(?:export )?(?:const|let) .*= (?:processSlots|sharedSlots|pLimit|pacer|slotsOfCallers|circuitBreaker|batchLoader|wakeableWait)\(/m;
  for (const file of sources) expect(textOf(file).match(made)?.[0], file).toBeUndefined();
});

test('schemas of endpoints are in schemas.ts', () => {
  for (const file of sources.filter(name => !name.startsWith('src/platform/')))
    if (!file.endsWith('/schemas.ts'))
      expect(textOf(file), file).not.toMatch(/\bschema: \{\s*(tags|summary)\b/);
});

test('TypeBox is imported only for its types, because it loads slowly', () => {
  for (const file of sources) expect(textOf(file), file).not.toMatch(/^import \{.*from 'typebox'/m);
});

test('SQL is only in store files, migrations and the database part of the platform', () => {
  const allowed = /(^|[/-])store\.ts$|\/migrations\/|^src\/platform\/(database|embedded-postgres)\//;
  const statement = /[`'"\s(](SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|COPY) [\w*($]/;
  for (const file of sources.filter(name => !allowed.test(name))) {
    const code = stripTypeScriptTypes(textOf(file)).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(statement.exec(code)?.[0], file).toBeUndefined();
  }
});

test('all advisory locks are in one file, and no two are equal', () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
  const texts = Object.values(HASHED_LOCKS);
  for (const text of texts) {
    expect(texts.filter(other => other.startsWith(text) || text.startsWith(other))).toEqual([text]);
  }
  const key = /pg_(?:try_)?advisory_\w*lock\w*\(([^)]*)\)?/g;
  const allowed = /^(\$1|key|\$\{ADVISORY_LOCKS\.\w+\}|hashtextextended\(\$\{name\}, 0)$/;
  for (const file of sources) {
    for (const [call, taken] of textOf(file).matchAll(key))
      expect(taken, `${file}: ${call}`).toMatch(allowed);
    if (!file.endsWith('/advisory-locks.ts')) expect(textOf(file), file).not.toMatch(/\b7_?104_?915_?/);
  }
});

/** The folders whose stores may name a table. The writer writes packets, the feature `packets` reads them. */
const OWNERS: Record<string, string> = {
  file_store: 'platform',
  serving_processes: 'platform',
  caller_places: 'platform',
  address_counts: 'platform',
  mail_outcomes: 'platform',
  erasures: 'erasure',
  packets: 'packets writer',
  packet_geoids: 'packets writer',
  packet_attachments: 'packets writer',
  attachment_claims: 'packets writer',
  attachments: 'attachments',
  attachment_contents: 'attachments',
  attachment_uploads: 'attachments',
  idempotency_keys: 'idempotency',
  token_users: 'access',
  fields: 'geoids',
  field_state: 'geoids',
  field_cells: 'geoids',
  deleted_fields: 'geoids',
  chat_threads: 'chat',
  chat_participants: 'chat',
  chat_messages: 'chat',
  chat_words: 'chat',
  tile_cells: 'tiles',
  tile_fields: 'tiles',
  tile_state: 'tiles',
  packet_log: 'log',
  packet_log_queue: 'log',
  shares: 'shares',
  invitation_tokens: 'shares',
  directory_users: 'directory',
  directory_contacts: 'directory',
  directory_confirmations: 'directory',
  directory_lookups: 'directory',
  notifications: 'notifications',
  notification_deliveries: 'notifications',
  users: 'users sessions api-keys',
  sessions: 'sessions',
  api_keys: 'api-keys',
  email_changes: 'email-change',
  second_factors: 'second-factor',
  recovery_codes: 'second-factor',
  login_addresses: 'attempts',
  mail_tokens: 'mails',
  mail_requests: 'mails',
  failed_mails: 'mails',
  refresh_tokens: 'sessions',
  login_failures: 'attempts',
  signing_keys: 'signing-keys',
  kept_secrets: 'signing-keys',
  audit: 'audit',
  images: 'images',
  image_uses: 'images',
  image_leftovers: 'images',
  products: 'products associations',
  product_companies: 'products associations',
  product_departures: 'products associations',
  product_changes: 'products associations',
  final_products: 'final-products',
  final_product_labels: 'final-products',
  product_labels: 'labels',
  label_batches: 'batches',
  label_documents: 'documents',
  label_counts: 'counts',
  label_feedback: 'feedback',
  knowledge_blog: 'knowledge-blog',
  currency_types: 'currency',
  currency_rates: 'currency',
  currency_dates: 'currency',
  currency_fetches: 'currency',
  provider_requests: 'currency',
  provider_requests_by_user: 'currency',
  daily_retrievals: 'currency',
  companies: 'companies',
  company_users: 'companies',
  company_invitations: 'companies',
  company_invitation_tokens: 'companies',
  company_address_invitations: 'companies',
  company_address_invitation_tokens: 'companies',
  company_inviters: 'companies',
  company_entry_ids: 'companies',
  facility_types: 'codes',
  measure_unit_types: 'codes',
  processing_evidence_types: 'codes',
  processing_evidence_fields: 'codes',
  semi_products: 'codes',
  product_types: 'codes',
  value_chains: 'value-chains',
  value_chain_facility_types: 'value-chains',
  value_chain_measure_unit_types: 'value-chains',
  value_chain_evidence_types: 'value-chains',
  value_chain_evidence_fields: 'value-chains',
  value_chain_semi_products: 'value-chains',
  company_value_chains: 'value-chains',
  global_settings: 'settings',
  label_requests: 'label-requests',
};

test('a table is named only by the feature that owns it', () => {
  for (const file of sources.filter(name => !name.startsWith('src/platform/') && /store\.ts$/.test(name))) {
    const folders = path.posix.dirname(file).split('/');
    for (const [, table] of textOf(file).matchAll(/\b(?:FROM|INTO|UPDATE|JOIN)\s+([a-z_]+)/g)) {
      const owner = OWNERS[table as string];
      if (owner === undefined) continue;
      expect(
        owner.split(' ').some(name => folders.includes(name)),
        `${file} names ${table}`,
      ).toBe(true);
    }
  }
});

test('every table has an owner', () => {
  for (const file of globSync('src/*/migrations/*.sql', { cwd: root })) {
    for (const [, table] of textOf(file).matchAll(
      /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/gim,
    )) {
      expect(Object.keys(OWNERS), `${file} creates ${table}`).toContain(table);
    }
  }
});

test('every table of the packet service has a placement for a distributed database; those of the trace backend are local', () => {
  const created = globSync('src/packet-service/migrations/*.sql', { cwd: root }).flatMap(file =>
    [...textOf(file).matchAll(/^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/gim)].map(
      ([, table]) => table as string,
    ),
  );
  expect(Object.keys(PLACEMENTS).sort(), 'src/packet-service/core/contract/placements.ts').toEqual(
    [...new Set([...created, 'migrations'])].sort(),
  );
});

test('a migration on main keeps its text, because databases store its checksum', () => {
  const landed: Record<string, string> = JSON.parse(textOf('test/landed-migrations.json'));
  const found = globSync('src/*/migrations/*.sql', { cwd: root }).map(file => file.replaceAll(path.sep, '/'));
  expect(found.sort(), 'npm run migrations adds new ones').toEqual(Object.keys(landed).sort());
  for (const [file, checksum] of Object.entries(landed)) {
    expect(hash('sha256', textOf(file), 'hex'), file).toBe(checksum);
  }
});

test('every migration of a service has a number of its own', () => {
  for (const service of ['packet-service', 'trace-backend']) {
    const names = globSync(`src/${service}/migrations/*.sql`, { cwd: root }).map(name => path.basename(name));
    const numbers = names.map(name => name.split('-')[0]);
    expect([...new Set(numbers)].length, names.join(', ')).toBe(names.length);
  }
});

test('files have at most 600 lines, tests 900, functions 90 unless `Long:` says why', () => {
  for (const file of files) {
    const text = textOf(file);
    const lines = text.split('\n');
    expect(lines.length, file).toBeLessThanOrEqual(isTest(file) ? 900 : 600);
    for (const { line, lines: length } of functionsOf(text)) {
      const reason = lines.slice(Math.max(0, line - 4), line + 1).some(text => text.includes('Long: '));
      if (!reason) expect(length, `${file}:${line}`).toBeLessThanOrEqual(90);
    }
  }
});

function functionsOf(text: string): { line: number; lines: number }[] {
  const code = stripTypeScriptTypes(text);
  const found: { line: number; lines: number }[] = [];
  full(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), (node: Node) => {
    if (!/Function/.test(node.type) || !node.loc) return;
    found.push({ line: node.loc.start.line, lines: node.loc.end.line - node.loc.start.line + 1 });
  });
  return found;
}

test('tests wait for events: none sleeps', () => {
  // A wait for a condition sleeps between two looks, here and in fixtures; fault and fuzz runs have a pace.
  const paced = /^test\/(faults|fuzz)\/|\/fixtures\/|^test\/(helpers\/eventually|tidiness\.test)\.ts$/;
  for (const file of files.filter(name => isTest(name) && !paced.test(name))) {
    expect(textOf(file), file).not.toMatch(/\bsetTimeout\(|setTimeout as|pg_sleep/);
  }
});

test('no unfinished, skipped or disabled code is left', () => {
  // Spelt with a class each, so that this file does not find itself.
  const marks = /\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b|\bHA[C]K\b/;
  for (const file of files) {
    const text = textOf(file);
    expect(marks.exec(text)?.[0], file).toBeUndefined();
    if (isTest(file))
      expect(/\b(test|it|describe)\.(skip|only|todo|fails)\b/.exec(text)?.[0], file).toBeUndefined();
    expect(/@ts-(ignore|nocheck|expect-error)/.exec(text)?.[0], file).toBeUndefined();
  }
});

test('docs/settings.md has the table that npm run settings writes from the schema', () => {
  const kept = readFileSync(path.join(root, 'docs/settings.md'), 'utf8');
  expect(kept.slice(kept.indexOf('| name |'))).toBe(settingsTable());
});

test('docs/errors.md has the tables that npm run reasons writes from the catalogue, and every reason is used', () => {
  const kept = readFileSync(path.join(root, 'docs/errors.md'), 'utf8');
  expect(kept.slice(kept.indexOf('## '))).toBe(reasonTables());
  const code = sources
    .filter(file => !file.startsWith('src/platform/http/reasons/'))
    .map(file => readFileSync(path.join(root, file), 'utf8'))
    .join('\n');
  expect(Object.keys(catalogue).filter(reason => !code.includes(`'${reason}'`))).toEqual([]);
  const parts = [
    commandReasons,
    consoleReasons,
    geometryReasons,
    packetReasons,
    platformReasons,
    traceReasons,
  ];
  expect(parts.flatMap(part => Object.keys(part)).sort()).toEqual(Object.keys(catalogue).sort());
});

test('the outlines of countries are those that npm run outlines writes from the map of the console', () => {
  const kept = readFileSync(path.join(root, 'src/trace-backend/public/label-pages/outlines.txt'), 'utf8');
  expect(kept).toBe(outlines());
});

test('documents are in plain English', () => {
  expect(oddPhrases('The user`s row stands\nin `users`s table; `who asks`.')).toEqual([
    '"stands in": write is in',
    '"r`s": write an apostrophe (\')',
  ]);
  const odd = globSync('{*.md,docs/**/*.md}', { cwd: root }).flatMap(file =>
    oddPhrases(textOf(file)).map(phrase => `${file}: ${phrase}`),
  );
  expect(odd).toEqual([]);
});

test('comments, messages and titles of tests are in plain English', () => {
  const sample = [
    '/**\n * Whom it is for is reckoned\n * anew. */',
    "const message = 'it stands in the log';",
    'interface Sample {\n  // in vain\n  field: string;\n}',
    'test(`whoever comes`, () => {}); // lest it fails',
  ].join('\n');
  expect(proseOf(sample).flatMap(oddPhrases)).toEqual([
    '"reckoned": write compute',
    '"anew": write again',
    '"in vain": write without success',
    '"lest": write so that … not',
    '"stands in": write is in',
    '"whoever": write if you; anyone who',
  ]);
  // The list of phrases, the samples above, and lists of words in several languages.
  const quoting = ['test/helpers/odd-phrases.ts', 'test/tidiness.test.ts', 'bench/chat-texts.ts'];
  const odd = files
    .filter(file => !quoting.includes(file))
    .flatMap(file =>
      proseOf(textOf(file))
        .flatMap(oddPhrases)
        .map(phrase => `${file}: ${phrase}`),
    );
  expect([...new Set(odd)]).toEqual([]);
});
