/**
 * Bundles the extension into dist/chromium/ and dist/firefox/, ready to load unpacked. Minified is what page loads wait for, the worker
 * and the content scripts, and the script inside HTML reports, as each report carries a copy. The rest is not, so that reviewers and
 * users can read it.
 *
 * Each file is put in place whole, and only when it changes: browsers that run the extension meanwhile miss none, and builds of the
 * same sources do not disturb each other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { removeComments } from './remove-comments.mjs';
import { english } from './src/language/english.ts';
import { german } from './src/language/german.ts';

/** A higher level makes the file 1% smaller, in twice the time. */
const GZIP_LEVEL = 6;
const root = new URL('./', import.meta.url);
/** From the root of the repository: paths in comments of the bundles are relative to it, wherever the build is started. */
const absWorkingDir = fileURLToPath(new URL('../', root));
const path = (relative, base = root) => fileURLToPath(new URL(relative, base));

/** Makes a folder for a build on its way: beside the builds, as source maps name the sources relative to their own place. */
function makeFolder(name) {
  const folder = mkdtempSync(path(`dist/.${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return pathToFileURL(`${folder}/`);
}

await mkdir(path('dist'), { recursive: true });
const out = makeFolder('chromium');
const forFirefox = makeFolder('firefox');

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  absWorkingDir,
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
    // `buildTrees` makes this file, which is loaded when it is needed.
    onResolve({ filter: /^\.\/tree-session\.js$/ }, ({ path: file }) => ({ path: file, external: true }));
    for (const [name, file] of SEPARATE) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ namespace }) =>
        namespace === 'exports' ? undefined : { path: `./${file}`, external: true },
      );
    }
  },
};

/**
 * Leaves the English messages out: pages load the packaged file of their language, see `language/load-language.ts`.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutMessages = {
  name: 'without-messages',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]language[\\/]english\.ts$/ }, () => ({ contents: 'export const english = {};' }));
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

/**
 * Leaves the projections of maps out of D3: no chart here is a map, and Plot calls them for the option `projection` alone. Only
 * `geoTransform` is called when Plot is loaded, for a projection that is not used.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutMaps = {
  name: 'without-maps',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]d3-geo[\\/]dist[\\/]d3-geo\.mjs$/ }, async ({ path: file }) => {
      const { geoTransform: _, ...others } = await import(pathToFileURL(file));
      const contents = `
        export const geoTransform = (methods) => methods;
        function refuseMap() { throw new Error('maps are not packaged'); }
        export { ${Object.keys(others).map((name) => `refuseMap as ${name}`)} };`;
      return { contents };
    });
  },
};

/**
 * The worker, and of the separate packages what it imports. A service worker cannot load them later: browsers reject `import()`
 * there. Code that they have in common, such as the library for validation, is in files `shared-HASH.js`.
 */
async function buildWorker() {
  const options = { ...common, format: 'esm' };
  const worker = {
    ...options,
    plugins: [separatePackages, withoutMessages],
    entryPoints: { worker: path('src/background/worker.ts') },
  };
  const { outputFiles } = await build({ ...worker, write: false });
  const packages = new Map(
    [...SEPARATE].map(([name, file]) => {
      const names = new Set(importsFrom(outputFiles[0].text, file));
      return [file, `export { ${[...names].join(', ')} } from '${name}';`];
    }),
  );
  await build({
    ...worker,
    sourcemap: 'linked',
    minify: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    plugins: [...worker.plugins, exportsOf(packages)],
    entryPoints: {
      ...worker.entryPoints,
      ...Object.fromEntries([...packages.keys()].map((file) => [file.replace('.js', ''), `exports:${file}`])),
    },
  });
}

/**
 * Makes entry points `exports:FILE` of the code in `packages`.
 *
 * @param {Map<string, string>} packages
 * @returns {import('esbuild').Plugin}
 */
const exportsOf = (packages) => ({
  name: 'exports-of',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^exports:/ }, ({ path: entry }) => ({
      path: entry.replace('exports:', ''),
      namespace: 'exports',
    }));
    onLoad({ filter: /./, namespace: 'exports' }, ({ path: file }) => ({
      contents: packages.get(file),
      resolveDir: path('.'),
    }));
  },
});

/**
 * The scripts of the extension's own pages. They are not minified, and keep no comments but those that explain the bundles. The panel
 * loads the code of some tabs when they are shown: that is in files `panel-NAME-HASH.js`, and what it shares with the panel in
 * `panel-chunk-HASH.js`.
 */
async function buildPages() {
  const options = {
    ...common,
    format: 'esm',
    sourcemap: 'linked',
    write: false,
    plugins: [withoutInnerHtml, withoutMaps, withoutMessages],
  };
  const built = await Promise.all([
    build({
      ...options,
      entryPoints: {
        popup: path('src/popup/popup.ts'),
        devtools: path('src/devtools/devtools.ts'),
        'emulation-worker': path('src/devtools/emulation/emulation-worker.ts'),
        options: path('src/options/options.ts'),
        welcome: path('src/welcome/welcome.ts'),
      },
    }),
    build({
      ...options,
      splitting: true,
      chunkNames: 'panel-[name]-[hash]',
      entryPoints: { panel: path('src/devtools/panel.ts') },
    }),
  ]);
  await Promise.all(
    built
      .flatMap(({ outputFiles }) => outputFiles)
      .map(({ path: file, text }) => writeFile(file, file.endsWith('.js') ? removeComments(text) : text)),
  );
}

/** The script of the HTML reports that the panel writes; the extension never runs it. Each report carries the messages that it names. */
const buildReportClient = () =>
  build({
    ...common,
    format: 'iife',
    minify: true,
    plugins: [withoutInnerHtml, withoutMaps, withoutMessages],
    entryPoints: { 'report-client': path('src/report/client.ts') },
  });

/**
 * Takes the import of a chosen file out of ONNX Runtime Web, which has it for WebAssembly that it fetches itself: add-on stores object to
 * it, and the packaged WebAssembly is given.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutChosenImport = {
  name: 'without-chosen-import',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]onnxruntime-web[\\/]dist[\\/]/ }, async ({ path: file }) => {
      const chosen = /\bimport\((?:\/\*[^*]*\*\/\s*)+\w+\)/g;
      const contents = (await readFile(file, 'utf8')).replaceAll(
        chosen,
        'Promise.reject(new Error("not packaged"))',
      );
      return { contents, loader: 'js' };
    });
  },
};

/** ONNX Runtime Web with what runs the trees: in a document of its own in Chromium, in the background page in Firefox. */
async function buildTrees() {
  const runtime = new URL(import.meta.resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm'));
  await Promise.all([
    build({
      ...common,
      format: 'esm',
      minify: true,
      plugins: [withoutMessages, withoutChosenImport],
      entryPoints: {
        offscreen: path('src/trees/offscreen.ts'),
        'tree-session': path('src/trees/tree-session.ts'),
      },
    }),
    writeFile(
      path('ort-wasm-simd-threaded.wasm.gz', out),
      gzipSync(await readFile(runtime), { level: GZIP_LEVEL }),
    ),
  ]);
}

/** The messages of each language, of which pages load one file. */
async function writeMessages() {
  await mkdir(path('messages', out));
  for (const [language, messages] of Object.entries({ en: english, de: german }))
    await writeFile(path(`messages/${language}.json`, out), JSON.stringify(messages));
}

/** Paths of the files below a folder. */
async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/**
 * Puts the files of a build into `dist/NAME/`, and takes away what else is there.
 *
 * @param {URL} made
 * @param {string} name
 */
async function putInPlace(made, name) {
  const placeOf = (file) => join(path('dist'), name, file.slice(path('', made).length));
  const files = await listFiles(made);
  for (const file of files) {
    const place = placeOf(file);
    const present = await readFile(place).catch(() => null);
    if (present?.equals(await readFile(file))) continue;
    await mkdir(dirname(place), { recursive: true });
    await rename(file, place);
  }
  const places = new Set(files.map(placeOf));
  for (const place of await listFiles(placeOf(''))) if (!places.has(place)) await rm(place, { force: true });
}

await Promise.all([
  buildWorker(),
  buildTrees(),
  buildPages(),
  build({
    ...common,
    format: 'iife',
    sourcemap: 'linked',
    minify: true,
    entryPoints: {
      content: path('src/recorder/content.ts'),
      'content-detailed': path('src/recorder/content-detailed.ts'),
    },
  }),
  buildReportClient(),
  writeMessages(),
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
    ['src/trees/offscreen.html', 'offscreen.html'],
    ['../model/trained/transport.onnx', 'transport.onnx'],
    ['../model/trained/transport.json', 'transport.json'],
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
await rm(path('tree-session.js', out));
for (const file of ['offscreen.html', 'offscreen.js']) await rm(path(file, forFirefox));
await writeManifest(out, { ...chromiumManifest, background: chromiumBackground });
// Chromium does not accept `proxy` as optional, and shows no additional warning for it. In Firefox it is optional, requested
// together with the other permissions of pins. Firefox needs no `browsingData`: it returns to HTTP/3 by itself when a pin ends. What
// detailed recordings need costs nothing in Firefox until it is used.
const forRecordings = ['webRequest', 'declarativeNetRequestWithHostAccess'];
await writeManifest(forFirefox, {
  ...firefoxManifest,
  background,
  permissions: [
    ...forRecordings,
    ...manifest.permissions.filter((permission) => !['proxy', 'offscreen'].includes(permission)),
  ],
  optional_permissions: ['proxy', 'history'],
});

await putInPlace(out, 'chromium');
await putInPlace(forFirefox, 'firefox');
