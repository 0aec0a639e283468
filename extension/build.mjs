/**
 * Bundles the extension into dist/chromium/ and dist/firefox/, ready to load unpacked. Not minified, so that
 * reviewers and users can read the code that runs.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = new URL('./', import.meta.url);
const out = new URL('dist/chromium/', root);
const forFirefox = new URL('dist/firefox/', root);
const path = (relative, base = root) => fileURLToPath(new URL(relative, base));

await rm(out, { recursive: true, force: true });
await rm(forFirefox, { recursive: true, force: true });
await mkdir(out, { recursive: true });

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  outdir: fileURLToPath(out),
  platform: 'browser',
  target: ['chrome120', 'firefox128'],
  conditions: ['source'],
  charset: 'utf8',
  legalComments: 'inline',
  logLevel: 'warning',
};

await Promise.all([
  build({
    ...common,
    format: 'esm',
    sourcemap: 'linked',
    entryPoints: {
      worker: path('src/background/worker.ts'),
      popup: path('src/popup/popup.ts'),
      devtools: path('src/devtools/devtools.ts'),
      panel: path('src/devtools/panel.ts'),
      'emulation-worker': path('src/devtools/emulation/emulation-worker.ts'),
      options: path('src/options/options.ts'),
    },
  }),
  build({
    ...common,
    format: 'iife',
    sourcemap: 'linked',
    entryPoints: { content: path('src/recorder/content.ts') },
  }),
  ...[
    ['manifest.json', 'manifest.json'],
    ['icons', 'icons'],
    ['src/ui/theme.css', 'theme.css'],
    ['src/popup/popup.html', 'popup.html'],
    ['src/popup/popup.css', 'popup.css'],
    ['src/devtools/devtools.html', 'devtools.html'],
    ['src/devtools/panel.html', 'panel.html'],
    ['src/devtools/panel.css', 'panel.css'],
    ['src/options/options.html', 'options.html'],
    ['src/options/options.css', 'options.css'],
  ].map(([from, to]) =>
    cp(path(from), path(to, out), { recursive: true, filter: (file) => !/\.(svg|mjs)$/.test(file) }),
  ),
]);

// Chromium does not accept `proxy` as optional, and shows no additional warning for it. In Firefox it is optional, requested
// together with the other permissions of pins. Firefox needs no `browsingData`: it returns to HTTP/3 by itself when a pin ends.
const manifest = JSON.parse(await readFile(path('manifest.json'), 'utf8'));
manifest.permissions = manifest.permissions.filter((permission) => permission !== 'proxy');
manifest.optional_permissions = ['proxy', 'webRequestAuthProvider', 'history'];
await cp(path('', out), path('', forFirefox), { recursive: true });
await writeFile(path('manifest.json', forFirefox), `${JSON.stringify(manifest, null, 2)}\n`);
