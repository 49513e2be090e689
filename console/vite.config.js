import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** The running console, for `npm run dev`: its address is that of `npm start`. */
const CONSOLE = process.env.CONSOLE_URL ?? 'http://127.0.0.1:8090';
const service = {
  target: CONSOLE,
  changeOrigin: true,
  headers: { origin: CONSOLE, 'sec-fetch-site': 'same-origin' },
};

export default defineConfig({
  plugins: [svelte({ compilerOptions: { runes: true } })],
  server: { proxy: { '/packet': service, '/trace': service } },
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
              test: /[/\\]messages[/\\]\w\w[/\\]/,
            },
          ],
        },
      },
    },
  },
});
