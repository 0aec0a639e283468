/**
 * `npm run package -- release`: everything that a release consists of, in `out/release/`, with checksums and a page about it. Nothing is
 * published with `--dry-run`; without it, only where every address is filled in.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Release } from './release.ts';

const run = promisify(execFile);

interface ReleaseOptions {
  root: string;
  target: string;
  release: Release;
  isDry: boolean;
  log: (line: string) => void;
  /** Builds all packages into the folder. @returns their paths */
  build: (target: string) => Promise<string[]>;
}

/** What a release's files are for, by the form of their names, in the order of the page. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^hopwise-[\d.]+\.tgz$/, 'the command and library, for Node 20 or later: `npx ./FILE predict page.har`'],
  [/^hopwise-playwright-[\d.]+\.tgz$/, 'Playwright fixtures, for Linux: `npm install --save-dev ./FILE`'],
  [/-chromium\.zip$/, 'the extension for Chromium, Chrome, Edge and Brave'],
  [/-firefox\.xpi$/, 'the extension for Firefox, unsigned'],
  [/_amd64\.deb$/, 'the helper for Debian 12 on x86-64: `sudo apt install ./FILE`'],
  [/_arm64\.deb$/, 'the helper for Debian 12 on ARM: `sudo apt install ./FILE`'],
  [/amd64\.tar\.\w+$/, 'the helper for other Linux on x86-64'],
  [/arm64\.tar\.\w+$/, 'the helper for other Linux on ARM'],
];
/** Packages that were never tried on their systems: they are built, and not offered. */
const UNTRIED = /-(macos|windows)\./;

/** @returns the exit code */
export async function makeRelease({
  root,
  target,
  release,
  isDry,
  log,
  build,
}: ReleaseOptions): Promise<number> {
  const addresses = readAddresses(root);
  const missing = placeholdersIn(addresses);
  if (!isDry && missing.length > 0) {
    log(
      `npm run package -- release: scripts/package/addresses.json: expected addresses in place of ${missing.join(', ')} (--dry-run makes everything but publishes nothing)`,
    );
    return 2;
  }
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const files = await build(target);
  const changes = changesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), release.version);
  const described = await Promise.all(files.map(describeFile));
  const sums = described.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
  await writeFile(join(target, 'SHA256SUMS'), sums);
  await writeFile(join(target, 'RELEASE.md'), renderPage(release, described, changes, addresses));
  for (const file of files.filter((each) => each.endsWith('.tgz'))) {
    await publish(file, isDry);
    log(`npm publish${isDry ? ' --dry-run' : ''}: ${basename(file)}: accepted`);
  }
  for (const { name, bytes } of described) log(`${relative(root, join(target, name))}  ${bytes} bytes`);
  log(`${relative(root, join(target, 'RELEASE.md'))}, ${relative(root, join(target, 'SHA256SUMS'))}`);
  return 0;
}

/** Addresses by what they are of. */
type Addresses = Record<string, string>;

const readAddresses = (root: string): Addresses =>
  JSON.parse(readFileSync(join(root, 'scripts/package/addresses.json'), 'utf8'));

/** Names of addresses that nobody has filled in yet. */
export const placeholdersIn = (addresses: Addresses): string[] =>
  Object.entries(addresses)
    .filter(([, address]) => !address.startsWith('https://'))
    .map(([name]) => name);

/** A version's entries in the change log. @throws Error where it has none */
export function changesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`${version},`));
  const text = section?.split('\n').slice(1).join('\n').trim();
  if (!text) throw new Error(`CHANGELOG.md: expected changes of ${version}, found none`);
  return text;
}

interface ReleasedFile {
  name: string;
  bytes: number;
  sha256: string;
}

async function describeFile(file: string): Promise<ReleasedFile> {
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return { name: basename(file), bytes: (await stat(file)).size, sha256 };
}

/** The page about a release, in Markdown. Links of the change log lead to the repository. */
export function renderPage(
  { version, epochSeconds }: Release,
  files: readonly ReleasedFile[],
  changes: string,
  addresses: Addresses,
): string {
  const day = new Date(epochSeconds * 1000).toISOString().slice(0, 10);
  const offered = KINDS.flatMap(([form, what]) =>
    files
      .filter(({ name }) => form.test(name) && !UNTRIED.test(name))
      .map(
        ({ name, bytes }) =>
          `| [${name}](${addresses.downloads}/${name}) | ${Math.ceil(bytes / 1000)} kB | ${what.replaceAll('FILE', name)} |`,
      ),
  );
  const absolute = changes.replace(
    /\]\((?!https?:)([^)]*)\)/g,
    (_, path: string) => `](${addresses.repository}/${path})`,
  );
  return `${[
    `# hopwise ${version}`,
    '',
    `Released on ${day}. The extension in the stores: [Chrome](${addresses.chromeStore}), [Firefox](${addresses.firefoxStore}).`,
    `Packages in npm's registry: [the command](${addresses.npmCommand}), [the fixtures](${addresses.npmPlaywright}).`,
    '',
    '| file | size | what it is |',
    '| --- | ---: | --- |',
    ...offered,
    '',
    `\`SHA256SUMS\` has the checksums of all: \`sha256sum --check --ignore-missing SHA256SUMS\`.`,
    '',
    '## Changes',
    '',
    absolute,
  ].join('\n')}\n`;
}

/** Hands a package to npm. It must not be the first to know that one cannot be published, so a dry run asks it too. */
async function publish(file: string, isDry: boolean): Promise<void> {
  const words = ['publish', file, '--access', 'public', '--loglevel=error', ...(isDry ? ['--dry-run'] : [])];
  try {
    await run('npm', words);
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = stderr.split('\n').find((line) => line.startsWith('npm error')) ?? message.split('\n')[0];
    throw new Error(`${basename(file)}: ${reason}`);
  }
}
