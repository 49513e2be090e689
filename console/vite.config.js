import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { englishMessages } from './english-messages.js';

/** The running console, for `npm run dev`: its address is that of `npm start`. */
const CONSOLE = process.env.CONSOLE_URL ?? 'http://127.0.0.1:8090';
const service = {
  target: CONSOLE,
  changeOrigin: true,
  headers: { origin: CONSOLE, 'sec-fetch-site': 'same-origin' },
};

export default defineConfig({
  plugins: [svelte({ compilerOptions: { runes: true } }), englishMessages(), serviceWorker()],
  server: {
    proxy: { '^/(packet|trace)/': service, '/instance.json': service },
    fs: { allow: ['.', '../messages'] },
  },
  build: {
    target: 'es2022',
    // The content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One file for each language.
            {
              name: id => `messages-${/messages[/\\](\w\w)[/\\]/.exec(id)?.[1]}`,
              test: /[/\\]messages[/\\]\w\w[/\\][\w-]+\.json$/,
            },
          ],
        },
      },
    },
  },
});

/** Files of the map, which are large, and of no use without a connection. */
const LATER = /\/(observation-map|maplibre|base-map|countries)/;

/** Builds src/offline/service-worker.ts, and puts the names of the files of the build before it. */
function serviceWorker() {
  const NAME = 'service-worker.js';
  let publicFolder;
  return {
    name: 'service-worker',
    apply: 'build',
    enforce: 'post',
    configResolved({ publicDir }) {
      publicFolder = publicDir;
    },
    buildStart() {
      this.emitFile({ type: 'chunk', id: 'src/offline/service-worker.ts', fileName: NAME });
    },
    generateBundle(_options, bundle) {
      const chunk = bundle[NAME];
      if (chunk.imports.length > 0 || chunk.exports.length > 0)
        throw new Error('the service worker must be one file');
      const page = bundle['index.html'].source;
      const entry = Object.values(bundle).find(({ isEntry, fileName }) => isEntry && page.includes(fileName));
      const assets = Object.keys(bundle).filter(name => name.startsWith('assets/'));
      const given = readdirSync(publicFolder);
      const hash = createHash('sha256').update(page).update(chunk.code).update(assets.sort().join());
      for (const name of given) hash.update(readFileSync(path.join(publicFolder, name)));
      const paths = [...given, ...assets].map(name => `/${name}`);
      const build = {
        version: hash.digest('hex').slice(0, 16),
        entry: `/${entry.fileName}`,
        first: paths.filter(name => !LATER.test(name)),
        later: paths.filter(name => LATER.test(name)),
      };
      chunk.code = `const BUILD = ${JSON.stringify(build)};\n${chunk.code}`;
    },
  };
}
