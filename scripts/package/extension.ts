/** The store packages of the extension, from `npm run build`. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkSizes, measureSizes } from './size-budgets.ts';
import { listFiles, writeZip } from './zip.ts';

const run = promisify(execFile);

interface ExtensionPackages {
  /** Folder of the built extension, with `chromium/` and `firefox/`. */
  built: string;
  target: string;
  version: string;
  log: (line: string) => void;
}

/**
 * The manifest of a store package. Access to sites is optional: people give it on the first page, while one who loads the built
 * folder as a developer has given it. Chrome's store gives extensions their keys itself, and rejects a manifest with `key`.
 */
export function storeManifest(built: Record<string, unknown>): Record<string, unknown> {
  const { key, host_permissions, ...manifest } = built;
  return { ...manifest, optional_host_permissions: host_permissions };
}

/** Ways to run a script that the package does not hold, which stores call remote code. Each stands for code, not for text in a message. */
const REMOTE_CODE: readonly (readonly [string, RegExp])[] = [
  ['a script from another server', /<script[^>]*\bsrc\s*=\s*["']?(?:https?:)?\/\//i],
  ['an import from another server', /\b(?:import|importScripts)\s*\(?\s*["'`](?:https?:)?\/\//],
  ['eval', /(?<![\w.$])eval\s*\(/],
  ['the Function constructor', /\bnew\s+Function\s*\(/],
];

/** What is remote code in a file's text; empty for nothing. */
export function findRemoteCode(text: string): string[] {
  return REMOTE_CODE.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
}

/** Without source maps. */
function forStore(path: string, contents: Buffer): Buffer | null {
  if (path.endsWith('.map')) return null;
  if (path !== 'manifest.json') return contents;
  const manifest = storeManifest(JSON.parse(contents.toString('utf8')));
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Writes the zip for Chromium's stores and the unsigned xpi for Firefox's.
 *
 * @returns the paths of both
 * @throws Error in one line for remote code, a size over its budget, or a complaint of `web-ext lint`
 */
export async function packExtension({ built, target, version, log }: ExtensionPackages): Promise<string[]> {
  const packages: string[] = [];
  for (const [browser, suffix] of [
    ['chromium', 'zip'],
    ['firefox', 'xpi'],
  ] as const) {
    const folder = join(built, browser);
    await checkCode(folder);
    const sizes = await measureSizes(folder);
    checkSizes(sizes);
    if (browser === 'firefox')
      for (const { file, bytes, maxBytes } of sizes)
        log(`${file}: ${bytes} of at most ${maxBytes} bytes compressed`);
    const file = join(target, `hopwise-${version}-${browser}.${suffix}`);
    await writeZip(folder, file, forStore);
    packages.push(file);
  }
  await lintPackage(packages[1]!);
  log('web-ext lint: no errors, notices or warnings');
  return packages;
}

/** @throws Error that names the file with remote code */
async function checkCode(folder: string): Promise<void> {
  for (const path of (await listFiles(folder)).filter((name) => /\.(js|html)$/.test(name))) {
    const [found] = findRemoteCode(await readFile(join(folder, path), 'utf8'));
    if (found) throw new Error(`${join(folder, path)}: ${found}, expected none`);
  }
}

interface LintReport {
  errors: LintMessage[];
  notices: LintMessage[];
  warnings: LintMessage[];
}

interface LintMessage {
  code: string;
  message: string;
  file?: string;
}

/** @throws Error with the first complaint of Mozilla's linter */
async function lintPackage(file: string): Promise<void> {
  const webExt = join(import.meta.dirname, '../../node_modules/web-ext/bin/web-ext.js');
  const words = [webExt, 'lint', '--source-dir', file, '--no-config-discovery', '--output', 'json'];
  // It ends with 1 where there are errors.
  const { stdout } = await run(process.execPath, words).catch((fault: { stdout?: string }) => {
    if (!fault.stdout) throw fault;
    return { stdout: fault.stdout };
  });
  const { errors, notices, warnings } = JSON.parse(stdout) as LintReport;
  const [first] = [...errors, ...warnings, ...notices];
  if (first) throw new Error(`web-ext lint: ${first.file ?? 'package'}: ${first.code}: ${first.message}`);
}
