/**
 * Bundles the extension into dist/chromium/ and dist/firefox/, ready to load unpacked. Not minified, so that
 * reviewers and users can read the code that runs; only the script inside HTML reports is, as each report carries a copy.
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
  target: ['chrome120', 'firefox142'],
  conditions: ['source'],
  charset: 'utf8',
  legalComments: 'inline',
  logLevel: 'warning',
};

/** Packages that are left out of the worker's bundle, with the files that they get: the emulator, and what learns from loads. */
const SEPARATE = new Map([
  ['@hopwise/pageload-emulator', 'model.js'],
  ['@hopwise/model', 'learning.js'],
]);

/** @type {import('esbuild').Plugin} */
const separatePackages = {
  name: 'separate-packages',
  setup({ onResolve }) {
    for (const [name, file] of SEPARATE) {
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: `./${file}`, external: true }));
    }
  },
};

/**
 * Leaves the English messages out of the bundles: pages load the packaged file of their language, see `language/load-language.ts`.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutMessages = {
  name: 'without-messages',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]_locales[\\/]en[\\/]messages\.json$/ }, () => ({
      contents: '{}',
      loader: 'json',
    }));
  },
};

/** Names that a bundle imports from a file. */
const importsFrom = (code, file) =>
  [...code.matchAll(new RegExp(`^import \\{([^}]*)\\} from "\\./${file}";$`, 'gm'))].flatMap(([, names]) =>
    names.split(',').map((name) => name.trim().split(' ')[0]),
  );

/**
 * Takes `selection.html()`, which nothing here calls, out of D3: add-on stores object to assignments to `innerHTML`.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutInnerHtml = {
  name: 'without-inner-html',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]d3-selection[\\/]dist[\\/]/ }, async ({ path: file }) => {
      const contents = (await readFile(file, 'utf8')).replaceAll(/this\.innerHTML = [^;]+;/g, '');
      return { contents, loader: 'js' };
    });
  },
};

/** The worker, and of the separate packages what it imports. A service worker cannot load them later: browsers reject `import()` there. */
async function buildWorker() {
  const options = { ...common, format: 'esm', sourcemap: 'linked' };
  await build({
    ...options,
    plugins: [separatePackages, withoutMessages],
    entryPoints: { worker: path('src/background/worker.ts') },
  });
  const worker = await readFile(path('worker.js', out), 'utf8');
  for (const [name, file] of SEPARATE) {
    const names = new Set(importsFrom(worker, file));
    const contents = `export { ${[...names].join(', ')} } from '${name}';`;
    await build({
      ...options,
      stdin: { contents, resolveDir: path('.'), sourcefile: file.replace('.js', '') },
      outdir: undefined,
      outfile: path(file, out),
    });
  }
}

await Promise.all([
  buildWorker(),
  build({
    ...common,
    format: 'esm',
    sourcemap: 'linked',
    plugins: [withoutInnerHtml, withoutMessages],
    entryPoints: {
      popup: path('src/popup/popup.ts'),
      devtools: path('src/devtools/devtools.ts'),
      panel: path('src/devtools/panel.ts'),
      'emulation-worker': path('src/devtools/emulation/emulation-worker.ts'),
      options: path('src/options/options.ts'),
      welcome: path('src/welcome/welcome.ts'),
    },
  }),
  build({
    ...common,
    format: 'iife',
    sourcemap: 'linked',
    entryPoints: { content: path('src/recorder/content.ts') },
  }),
  // Text that the panel puts into the HTML reports that it writes; the extension never runs it.
  build({
    ...common,
    format: 'iife',
    minify: true,
    // With the English messages: reports are in English, and have no packaged files.
    plugins: [withoutInnerHtml],
    entryPoints: { 'report-client': path('src/report/client.ts') },
  }),
  ...[
    ['manifest.json', 'manifest.json'],
    ['icons', 'icons'],
    ['src/_locales', '_locales'],
    ['src/ui/theme.css', 'theme.css'],
    ['src/ui/full-page.css', 'full-page.css'],
    ['src/popup/popup.html', 'popup.html'],
    ['src/popup/popup.css', 'popup.css'],
    ['src/devtools/devtools.html', 'devtools.html'],
    ['src/devtools/panel.html', 'panel.html'],
    ['src/devtools/panel.css', 'panel.css'],
    ['src/options/options.html', 'options.html'],
    ['src/options/options.css', 'options.css'],
    ['src/welcome/welcome.html', 'welcome.html'],
    ['src/welcome/welcome.css', 'welcome.css'],
  ].map(([from, to]) =>
    cp(path(from), path(to, out), { recursive: true, filter: (file) => !/\.(svg|mjs)$/.test(file) }),
  ),
]);

const { version } = JSON.parse(await readFile(path('../package.json'), 'utf8'));
const { name, ...manifest } = JSON.parse(await readFile(path('manifest.json'), 'utf8'));
const { service_worker, ...background } = manifest.background;
const { scripts, ...chromiumBackground } = manifest.background;
const { key, minimum_chrome_version, ...firefoxManifest } = manifest;
const { browser_specific_settings, ...chromiumManifest } = manifest;

const writeManifest = (folder, value) =>
  writeFile(path('manifest.json', folder), `${JSON.stringify({ name, version, ...value }, null, 2)}\n`);

await cp(path('', out), path('', forFirefox), { recursive: true });
await writeManifest(out, { ...chromiumManifest, background: chromiumBackground });
// Chromium does not accept `proxy` as optional, and shows no additional warning for it. In Firefox it is optional, requested
// together with the other permissions of pins. Firefox needs no `browsingData`: it returns to HTTP/3 by itself when a pin ends.
await writeManifest(forFirefox, {
  ...firefoxManifest,
  background,
  permissions: manifest.permissions.filter((permission) => permission !== 'proxy'),
  optional_permissions: ['proxy', 'webRequestAuthProvider', 'history'],
});
