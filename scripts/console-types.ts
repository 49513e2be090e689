/** npm run console:types: writes the types of the console's API clients from the two definitions. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'console/src/api/generated');

mkdirSync(FOLDER, { recursive: true });
for (const name of ['packet-service', 'trace-backend']) {
  const definition = JSON.parse(readFileSync(path.join(ROOT, 'openapi', `${name}.json`), 'utf8'));
  writeFileSync(path.join(FOLDER, `${name}.d.ts`), astToString(await openapiTypes(definition)));
}
