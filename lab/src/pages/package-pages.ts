/**
 * Whole web pages from packages of the npm registry: downloaded on first use, served by the lab like static files, and recorded
 * there. Files that a page loads from a package CDN (such as jsDelivr) are served under the CDN's origin from the same package.
 * Files in no package, such as Google Fonts, fail in the recording as in the replay.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress as brotliCallback, constants, gzip as gzipCallback } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { chromiumPath } from '../browser/chromium.ts';
import { Lab } from '../client/lab.ts';
import { EASY_NETWORK } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { makeScratch, removeScratch, removeStale, staleFolders } from '../command/scratch.ts';
import { CACHE_DIR } from '../paths.ts';
import { record } from '../record/record.ts';
import type { Site } from '../sites/site.ts';
import { writeSite } from '../sites/write-site.ts';

/** A folder of a package, mounted on a server. */
interface Mount {
  /** URL prefix of its files. */
  url: string;
  /** Exact version. */
  package: string;
  integrity: string;
  /** Folder in the package. */
  folder: string;
  /** Content coding of its text files. */
  coding: 'gzip' | 'br';
}

interface PackagePage {
  title: string;
  entry: string;
  /** The document, where no package has one. */
  document?: string;
  mounts: Mount[];
}

const bootstrap: Mount = {
  url: 'https://cdn.jsdelivr.net/npm/bootstrap@5.2.3/',
  package: 'bootstrap@5.2.3',
  integrity:
    'sha512-cEKPM+fwb3cT8NzQZYEu4HilJ3anCrWqh3CHAok1p9jXqMPsPTBhU25fBckEJHJ/p+tTxTFTsFQGM+gaHpi3QQ==',
  folder: 'dist',
  coding: 'br',
};

/** By name, without the prefix `npm:`. All have free licences: MIT, BSD-3-Clause (modules), MPL-1.1 (editor). */
const PACKAGE_PAGES: Record<string, PackagePage> = {
  agency: {
    title: "an agency's page: images, a large script of icons from another origin",
    entry: 'https://agency.package.test/',
    mounts: [
      {
        url: 'https://agency.package.test/',
        package: 'startbootstrap-agency@7.0.12',
        integrity:
          'sha512-VpdOVgqYq+Yomt72/gZueBuB99wWyqL1rvqaGaqRwHtDMJlXSf9eGfisyQXPx7//z3dnlGHIMzIk2I8CCmtXOQ==',
        folder: 'dist',
        coding: 'gzip',
      },
      { ...bootstrap, url: `${bootstrap.url}dist/` },
      {
        url: 'https://use.fontawesome.com/releases/v6.3.0/js/',
        package: '@fortawesome/fontawesome-free@6.3.0',
        integrity:
          'sha512-qVtd5i1Cc7cdrqnTWqTObKQHjPWAiRwjUPaXObaeNPcy7+WKxJumGBx66rfSFgK6LNpIasVKkEgW8oyf0tmPLA==',
        folder: 'js',
        coding: 'br',
      },
    ],
  },
  creative: {
    title: 'a page of large images, an icon font from another origin',
    entry: 'https://creative.package.test/',
    mounts: [
      {
        url: 'https://creative.package.test/',
        package: 'startbootstrap-creative@7.0.7',
        integrity:
          'sha512-eBv64AUQJZbBbWBIADYqNDFAl/uvel2dFmnkF6ggWE0tw8jzpINZ04yX93/Rj/nWEQzC2UuMu4jLctjUEVUBcQ==',
        folder: 'dist',
        coding: 'gzip',
      },
      { ...bootstrap, url: `${bootstrap.url}dist/` },
      {
        url: 'https://cdn.jsdelivr.net/npm/bootstrap-icons@1.5.0/font/',
        package: 'bootstrap-icons@1.5.0',
        integrity:
          'sha512-44feMc7DE1Ccpsas/1wioN8ewFJNquvi5FewA06wLnqct7CwMdGDVy41ieHaacogzDqLfG8nADIvMNp9e4bfbA==',
        folder: 'font',
        coding: 'br',
      },
    ],
  },
  admin: {
    title: 'a dashboard: jQuery and its plug-ins, charts, a large icon font',
    entry: 'https://admin.package.test/index.html',
    mounts: [
      {
        url: 'https://admin.package.test/',
        package: 'startbootstrap-sb-admin-2@4.1.4',
        integrity:
          'sha512-Zr0JNu4tRD4EJVDwVLETKWfMniFx4Dy3qAnJ96ucqUqIZ8Ns4/H5a6Y0E44/K5lxO05EBQwi24hPxaLEz+2IhA==',
        folder: '.',
        coding: 'gzip',
      },
    ],
  },
  editor: {
    title: 'an editor that a script builds: a chain of scripts, styles in a frame',
    entry: 'https://editor.package.test/samples/index.html',
    mounts: [
      {
        url: 'https://editor.package.test/',
        package: 'ckeditor4@4.22.1',
        integrity:
          'sha512-Yj4vTHX5YxHwc48gNqUqTm+KLkRr9tuyb4O2VIABu4oKHWRNVIdLdy6vUNe/XNx+RiTavMejfA1MVOU/MxLjqQ==',
        folder: '.',
        coding: 'gzip',
      },
    ],
  },
  modules: {
    title: 'AMD modules without a build: long chains of many small scripts',
    entry: 'https://modules.package.test/dijit/tests/CalendarLite.html',
    mounts: [
      {
        url: 'https://modules.package.test/dijit/',
        package: 'dijit@1.17.3',
        integrity:
          'sha512-QS+1bNhPT+BF9E+iomQSi5qI+o3oUNSx1r5TF8WlGH4LybGZP+IIGJBOO5/41YduBPljVXhY7vaPsgrycxC6UQ==',
        folder: '.',
        coding: 'gzip',
      },
      {
        url: 'https://modules.package.test/dojo/',
        package: 'dojo@1.17.3',
        integrity:
          'sha512-iWDx1oSfCEDnIrs8cMW7Zh9Fbjgxu8iRagFz+Qi2eya3MXIAxFXKhv2A7dpi+bfpMpFozLwcsLV8URLw6BsHsA==',
        folder: '.',
        coding: 'gzip',
      },
    ],
  },
  'es-modules': {
    title:
      'ES modules without a build, as development servers send them: hundreds of small scripts in chains',
    entry: 'https://es-modules.package.test/',
    document: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Words by length</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"vue": "/vue/vue.esm-browser.prod.js", "lodash-es": "/lodash-es/lodash.js"}}</script>
</head><body><ul id="list"></ul>
<script type="module">
import { createApp, h } from 'vue';
import { groupBy, words } from 'lodash-es';
const groups = groupBy(words('pack my box with five dozen liquor jugs'), 'length');
createApp({ render: () => Object.values(groups).map((each) => h('li', each.join(', '))) }).mount('#list');
</script></body></html>
`,
    mounts: [
      {
        url: 'https://es-modules.package.test/vue/',
        package: 'vue@3.5.45',
        integrity:
          'sha512-3cvsib8m9c0vB24+MDKsgcW4+Da4xaBl9Z/5Tbm2pmSIsRPxcil4cdXjXlVsmJ2g64XJo5h+IRd7rsdGT9pZaw==',
        folder: 'dist',
        coding: 'gzip',
      },
      {
        url: 'https://es-modules.package.test/lodash-es/',
        package: 'lodash-es@4.18.1',
        integrity:
          'sha512-J8xewKD/Gk22OZbhpOVSwcs60zhd95ESDwezOFuA3/099925PdHJ7OFHNTGtajL3AlZkykD32HykiMo+BIBI8A==',
        folder: '.',
        coding: 'gzip',
      },
    ],
  },
};

/** Prefix of `PACKAGE_PAGES` names on the command line. */
export const PACKAGE_PREFIX = 'npm:';

/** Version of the recording method; recordings of other versions are made again. */
const RECORDER_VERSION = 1;
const WAIT_MS = 1500;
const TIMEOUT_MS = 60_000;
const MAX_FILES = 5000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * The site of the package page `name` (without prefix), recorded in the lab on first use.
 *
 * @returns its folder
 * @throws UserError in one line when the page does not exist, the registry cannot be reached, or the lab cannot start
 */
export async function openPackagePage(name: string, signal?: AbortSignal): Promise<string> {
  const page = Object.hasOwn(PACKAGE_PAGES, name) ? PACKAGE_PAGES[name] : undefined;
  if (page === undefined) {
    throw new UserError(
      `${PACKAGE_PREFIX}${name}: expected ${Object.keys(PACKAGE_PAGES)
        .map((known) => PACKAGE_PREFIX + known)
        .join(', ')}`,
      2,
    );
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([RECORDER_VERSION, page]))
    .digest('hex');
  const dir = join(CACHE_DIR, 'sites', `npm-${name}-${digest.slice(0, 12)}`);
  if (await exists(join(dir, 'site.json'))) return dir;
  const scratch = await makeScratch('run');
  try {
    const source = join(scratch, 'source');
    await writeSite(await packageSite(name, page, signal), source);
    await recordInLab(name, page, source, dir, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UserError) throw error;
    throw new UserError(`${PACKAGE_PREFIX}${name}: ${firstLine(error)}`);
  } finally {
    await removeScratch(scratch);
  }
  return dir;
}

async function recordInLab(
  name: string,
  page: PackagePage,
  source: string,
  out: string,
  signal = new AbortController().signal,
): Promise<void> {
  const lab = await Lab.up({ site: source, network: EASY_NETWORK, signal });
  try {
    await record({
      url: page.entry,
      out,
      name: `npm-${name}`,
      executablePath: await lab.wrapper(chromiumPath()),
      headed: false,
      timeoutMs: TIMEOUT_MS,
      waitMs: WAIT_MS,
      maxBytes: 2 ** 27,
      seed: 1,
      // The protocol of the recording does not matter: HTTP/2.
      args: ['--disable-quic', `--ignore-certificate-errors-spki-list=${lab.caSpki}`],
      protocols: 'all',
      signal,
    });
  } finally {
    await lab.down();
  }
}

const HTML = 'text/html; charset=utf-8';
const TEXTS: Record<string, string> = {
  html: HTML,
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
  svg: 'image/svg+xml',
};
const BINARIES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  eot: 'application/vnd.ms-fontobject',
  mp4: 'video/mp4',
};
/** A common server setting: below this, compression gains nothing. */
const MIN_COMPRESSED_BYTES = 1024;
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 5;

const gzip = promisify(gzipCallback) as (body: Uint8Array, options: { level: number }) => Promise<Buffer>;
const brotli = promisify(brotliCallback) as (
  body: Uint8Array,
  options: { params: Record<number, number> },
) => Promise<Buffer>;

/** The body of a page's own document. */
const DOCUMENT = 'document.html';

/** All files of the page's packages as a site, with its own document if it has one. */
async function packageSite(
  name: string,
  page: PackagePage,
  signal: AbortSignal | undefined,
): Promise<{ site: Site; files: Map<string, Uint8Array> }> {
  const files = new Map<string, Uint8Array>();
  const resources: Site['resources'] = [];
  const origins = new Set<string>();
  for (const mount of page.mounts) {
    const folder = join(await unpacked(mount, signal), mount.folder);
    const { origin, pathname } = new URL(mount.url);
    origins.add(origin);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
      const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
      const text = TEXTS[extension];
      const type = text ?? BINARIES[extension];
      if (!entry.isFile() || type === undefined) continue;
      const content = await readFile(join(folder, path));
      if (content.length > MAX_FILE_BYTES || files.size >= MAX_FILES) {
        throw new Error(
          `${mount.package}: expected at most ${MAX_FILES} files of ${MAX_FILE_BYTES} bytes, got more at ${path}`,
        );
      }
      const isCompressed = text !== undefined && content.length >= MIN_COMPRESSED_BYTES;
      const file = `files/${files.size}`;
      files.set(file, isCompressed ? await compress(content, mount.coding) : content);
      const urlPath = pathname + path.split('/').map(encodeURIComponent).join('/');
      const resource = {
        origin,
        method: 'GET',
        status: 200,
        headers: {
          'content-type': type,
          'cache-control': 'public, max-age=86400',
          'access-control-allow-origin': '*',
          ...(isCompressed ? { 'content-encoding': mount.coding, vary: 'accept-encoding' } : {}),
        },
        body: { file },
        thinkMs: 0,
      };
      resources.push({ ...resource, path: urlPath });
      if (path === 'index.html') resources.push({ ...resource, path: pathname });
    }
  }
  if (page.document !== undefined) {
    const { origin, pathname } = new URL(page.entry);
    files.set(DOCUMENT, Buffer.from(page.document));
    resources.push({
      origin,
      path: pathname,
      method: 'GET',
      status: 200,
      headers: { 'content-type': HTML },
      body: { file: DOCUMENT },
      thinkMs: 0,
    });
  }
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name,
    entry: page.entry,
    origins: [...origins].map((origin) => ({ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 })),
    resources,
  };
  return { site, files };
}

const compress = (content: Uint8Array, coding: Mount['coding']): Promise<Buffer> =>
  coding === 'gzip'
    ? gzip(content, { level: GZIP_LEVEL })
    : brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });

/** The folder of a package's files, which npm downloads and verifies. */
async function unpacked(mount: Mount, signal: AbortSignal | undefined): Promise<string> {
  const parent = join(CACHE_DIR, 'packages');
  const dir = join(parent, mount.package.replace(/[^\w.@-]/g, '-'));
  if (await exists(dir)) return dir;
  await mkdir(parent, { recursive: true });
  for (const stale of await staleFolders(parent, /^\.fetching-(\d+)-\w{6}$/)) await removeStale(stale);
  const fresh = await mkdtemp(join(parent, `.fetching-${process.pid}-`));
  try {
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', fresh, mount.package],
      signal,
    ).catch((error) => {
      throw new UserError(`${mount.package} could not be downloaded by npm pack: ${reason(error)}`);
    });
    const [packed] = JSON.parse(stdout) as { filename: string; integrity: string }[];
    if (packed?.integrity !== mount.integrity) {
      throw new UserError(
        `${mount.package}: expected the integrity ${mount.integrity}, got ${packed?.integrity}`,
      );
    }
    const archive = (await readdir(fresh)).find((file) => file.endsWith('.tgz')) ?? packed.filename;
    const files = join(fresh, 'files');
    await mkdir(files);
    await run(
      'tar',
      ['-xzf', join(fresh, archive), '-C', files, '--strip-components=1', '--no-same-owner'],
      signal,
    );
    await rename(files, dir).catch(async (error) => {
      // Another run has created it meanwhile.
      if (!(await exists(dir))) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return dir;
}

const run = (command: string, args: string[], signal: AbortSignal | undefined) =>
  promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024, ...(signal && { signal }) });

function reason(error: unknown): string {
  const { stderr, code } = error as { stderr?: string; code?: unknown };
  if (code === 'ENOENT') return 'there is no npm on the PATH';
  const lines = (stderr ?? '').split('\n').filter((line) => /npm (error|ERR!)/.test(line));
  return lines[0]?.replace(/^npm (error|ERR!) /, '') ?? firstLine(error);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
