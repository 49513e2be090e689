// npm run settings: writes the table of docs/settings.md from the schema of the settings.
import { readFileSync, writeFileSync } from 'node:fs';
import { settingsTable } from './settings-table.ts';

const FILE = new URL('../docs/settings.md', import.meta.url);

const text = readFileSync(FILE, 'utf8');
writeFileSync(FILE, text.slice(0, text.indexOf('| name |')) + settingsTable());
