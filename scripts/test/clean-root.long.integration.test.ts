/**
 * The helper's packages in a root that has Debian's essential packages and what the packages name in `Depends`: no network, no
 * npm, no checkout. It shows that the packages are whole on this machine's architecture and that Debian has what they depend
 * on. It does not show how a browser starts the helper.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type InstallationCheck, MESSAGE_VERSION } from '@hopwise/contract';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { frame, readFrames } from '../../native-host/src/base/framing.ts';
import { buildDebianPackage } from '../package/debian.ts';
import { buildTree } from '../package/helper-tree.ts';
import { ARCHITECTURES, NODE_ARCHITECTURE, readRelease } from '../package/release.ts';
import { buildTarball } from '../package/tarball.ts';
import { buildUntriedPackages } from '../package/untried.ts';
import { CleanRoot, HOME } from './clean-root.ts';

const BUILD_TIMEOUT_MS = 600_000;
/** The places that the Debian package registers the helper at. */
const SYSTEM_BROWSERS = ['Chromium', 'Google Chrome', 'Microsoft Edge', 'Firefox'];

let folder: string;
let files: { deb: string; tarball: string };
let root: CleanRoot;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-clean-root-'));
  const architecture = ARCHITECTURES.find((one) => NODE_ARCHITECTURE[one] === process.arch)!;
  const tree = join(folder, 'tree');
  const cache = join(ROOT, '.cache/package');
  const depends = await buildTree(tree, { root: ROOT, architecture, cache, log: () => {} });
  const common = { tree, depends, architecture, release: readRelease(ROOT), root: ROOT, target: folder };
  files = { deb: await buildDebianPackage(common), tarball: await buildTarball(common) };
  root = await CleanRoot.create(join(folder, 'root'), depends);
  for (const file of Object.values(files)) copyFileSync(file, join(root.folder, 'tmp', basename(file)));
}, BUILD_TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const failedChecks = (helper: string): InstallationCheck[] => {
  const { checks } = JSON.parse(root.run([helper, 'doctor', '--offline', '--json'])) as {
    checks: InstallationCheck[];
  };
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Node', 'koffi', 'libcurl', 'HTTP/3']),
  );
  return checks.filter(({ ok }) => !ok);
};

/** The helper's greeting when a browser starts what a manifest names. */
async function greet(manifest: string): Promise<unknown> {
  const { path } = JSON.parse(readFileSync(join(root.folder, manifest), 'utf8')) as { path: string };
  const host = root.spawn([path, 'chrome-extension://any/']);
  const exit = new Promise((resolve) => host.once('exit', resolve));
  host.stdin!.write(frame({ type: 'hello', id: '1', version: MESSAGE_VERSION }));
  const { value } = await readFrames(host.stdout!).next();
  host.stdin!.end();
  expect(await exit).toBe(0);
  return value;
}

test('the root has no Node of its own, and no network', () => {
  expect(() => root.run(['sh', '-c', 'command -v node npm'])).toThrow('ended with 127');
  expect(root.run(['cat', '/proc/net/dev']).match(/^ *\w+(?=:)/gm)).toEqual(['    lo']);
});

describe('the Debian package', () => {
  test('is installed, works, and is removed without a trace', async () => {
    const before = root.listFiles();
    root.run(['dpkg', '-i', `/tmp/${basename(files.deb)}`]);
    expect(root.run(['sh', '-c', 'command -v hopwise-host'])).toBe('/usr/bin/hopwise-host\n');
    expect(failedChecks('hopwise-host')).toEqual([]);
    expect(root.run(['hopwise-host', 'status', '--json'])).toContain(
      JSON.stringify(SYSTEM_BROWSERS.map((browser) => ({ browser, problem: '' }))),
    );
    expect(await greet('etc/chromium/native-messaging-hosts/org.hopwise.host.json')).toMatchObject({
      launcher: '/usr/bin/hopwise-host',
      http3: true,
      problem: '',
    });
    root.run(['hopwise-host', 'uninstall', '--all']);
    root.run(['dpkg', '--purge', 'hopwise-host']);
    expect(root.listFiles()).toEqual(before);
  });

  test('cannot be installed where a library is missing', { timeout: BUILD_TIMEOUT_MS }, async () => {
    const lacking = await CleanRoot.create(join(folder, 'lacking'), []);
    copyFileSync(files.deb, join(lacking.folder, 'tmp/helper.deb'));
    expect(() => lacking.run(['dpkg', '-i', '/tmp/helper.deb'])).toThrow(
      /hopwise-host depends on libnghttp2-14/,
    );
  });
});

describe('the tarball', () => {
  test('is installed, works, and is removed without a trace', async () => {
    const before = root.listFiles();
    root.run(['tar', '-C', '/tmp', '-xzf', `/tmp/${basename(files.tarball)}`]);
    const unpacked = `/tmp/${basename(files.tarball, '.tar.gz')}`;
    const said = root.run([`${unpacked}/install.sh`]);
    expect(said).toContain(`call the helper as ${HOME}/.local/bin/hopwise-host\n`);
    root.run(['rm', '-r', unpacked]);
    expect(failedChecks(`${HOME}/.local/bin/hopwise-host`)).toEqual([]);
    const manifest = `${HOME}/.config/chromium/NativeMessagingHosts/org.hopwise.host.json`;
    expect(await greet(manifest)).toMatchObject({
      launcher: `${HOME}/.local/lib/hopwise/bin/hopwise-host`,
      http3: true,
      problem: '',
    });
    root.run([`${HOME}/.local/lib/hopwise/uninstall.sh`, '--all']);
    expect(root.listFiles()).toEqual(before);
  });
});

test('the packages for macOS and Windows hold koffi for their machines alone', async () => {
  const cache = join(ROOT, '.cache/package');
  const release = readRelease(ROOT);
  const [macos, windows] = await buildUntriedPackages({ root: ROOT, cache, target: folder, release });
  const machines = (listing: string) =>
    [...new Set([...listing.matchAll(/koffi-(\w+-\w+)\/[^\s]*koffi\.node/g)].map(([, one]) => one!))].sort();
  const list = (command: string, words: string[]) =>
    execFileSync(command, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
  expect(machines(list('tar', ['-tzf', macos!]))).toEqual(['darwin-arm64', 'darwin-x64']);
  expect(machines(list('python3', ['-m', 'zipfile', '-l', windows!]))).toEqual(['win32-arm64', 'win32-x64']);
});
