// npm run outlines: writes the outlines of countries, which the maps of labels draw, from the packages of the console.
import { writeFileSync } from 'node:fs';
import { outlines } from './outlines.ts';

writeFileSync(new URL('../src/trace-backend/public/label-pages/outlines.txt', import.meta.url), outlines());
