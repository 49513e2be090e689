// npm run reasons: writes the tables of docs/errors.md from the catalogue of reasons.
import { readFileSync, writeFileSync } from 'node:fs';
import { reasonTables } from './reasons-page.ts';

const FILE = new URL('../docs/errors.md', import.meta.url);

const text = readFileSync(FILE, 'utf8');
writeFileSync(FILE, text.slice(0, text.indexOf('## ')) + reasonTables());
