/**
 * The recipe for containers of e2e/examples/playwright/README.md: podman in a bare Debian root starts a container, whose root is
 * another one with Chromium, with the options that the README shows, and the example project's tests run in it. Containers of
 * podman and Docker have the same rights by default, and the same folders are read-only. It needs root.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unpackDebian, wordsToEnter } from '../fresh/debian-root.ts';

const BUILD_TIMEOUT_MS = 900_000;
const RUN_TIMEOUT_MS = 600_000;
const EXAMPLE = join(ROOT, 'e2e/examples/playwright');
/** In the container. */
const PROJECT = '/project';
const USER_ID = 1000;

/** What a machine that runs containers has: a folder of control groups. The container's root is the folder `image` of the machine's. */
const START = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec podman "$@"';
const PODMAN = ['--cgroup-manager=cgroupfs', '--storage-driver=vfs', '--events-backend=file'];
const RUN = ['run', '--rm', '--cgroups=disabled', '--network=none', '--env=CI=1', `--workdir=${PROJECT}`];

/** Options of podman by who runs the tests, as the README's table has them. */
function shownOptions(): Record<string, string[]> {
  const rows = readFileSync(join(EXAMPLE, 'README.md'), 'utf8').matchAll(
    /^\| (root|another user) \|.*\| `([^`]*)` \|$/gm,
  );
  return Object.fromEntries([...rows].map(([, who, options]) => [who!, options!.split(' ')]));
}

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-container-'));
  chmodSync(folder, 0o755);
  const machine = join(folder, 'machine');
  const image = join(machine, 'image');
  mkdirSync(machine);
  await unpackDebian(machine, ['podman', 'crun', 'golang-github-containers-common'], () => {});
  mkdirSync(image);
  await unpackDebian(image, ['chromium'], () => {});
  copyFileSync(process.execPath, join(image, 'usr/bin/node'));
  const project = join(image, PROJECT);
  cpSync(EXAMPLE, project, { recursive: true, filter: (path) => !/node_modules|test-results/.test(path) });
  const pack = [join(ROOT, 'scripts/package/main.ts'), 'playwright', join(project, 'hopwise')];
  execFileSync(process.execPath, pack, { stdio: 'ignore' });
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: project, stdio: 'ignore' });
  // Here, as the container has no network from which Go could take modules.
  const build = "import('@hopwise/lab/client/build').then(({ labProgram }) => labProgram())";
  execFileSync(process.execPath, ['-e', build], { cwd: project, stdio: 'ignore' });
  execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, project]);
}, BUILD_TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the example's tests in a container. */
function runTests(options: readonly string[], isRoot: boolean) {
  const [program = '', ...entering] = wordsToEnter(join(folder, 'machine'), { hasNetwork: false });
  const user = isRoot ? [] : [`--user=${USER_ID}:${USER_ID}`, '--env=HOME=/tmp'];
  const tests = [
    'node_modules/.bin/playwright',
    'test',
    '--reporter=list',
    // One user cannot write to the other's.
    `--output=/tmp/results-${isRoot ? 'root' : 'user'}`,
    '--retries=0',
    '--grep=h[123] loads',
  ];
  const container = [...PODMAN, ...RUN, ...user, ...options, '--rootfs', '/image', ...tests];
  const { status, stdout, stderr } = spawnSync(
    program,
    [...entering, 'sh', '-c', START, 'sh', ...container],
    {
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
      timeout: RUN_TIMEOUT_MS,
    },
  );
  return { status, output: stdout + stderr };
}

describe('a container with the options of the README', { timeout: RUN_TIMEOUT_MS }, () => {
  test.each(['root', 'another user'])('runs the example for %s', (who) => {
    const options = shownOptions()[who];
    expect(options).toBeDefined();
    const { status, output } = runTests(options!, who === 'root');
    expect(status, output).toBe(0);
    expect(output).toMatch(/^ +3 passed/m);
  });

  test('says which one is missing', () => {
    const all = shownOptions().root!.join(' ');
    for (const [left, said] of [
      ['', /\/dev\/net\/tun does not exist: .*`--device \/dev\/net\/tun`/],
      ['--device /dev/net/tun', /cannot make one: .*`--cap-add NET_ADMIN --cap-add SYS_ADMIN`/],
    ] as const) {
      expect(all).toContain(left);
      const { status, output } = runTests(left.split(' ').filter(Boolean), true);
      expect(status).toBe(1);
      expect(output).toMatch(said);
    }
    expect(existsSync(join(folder, 'machine/image', PROJECT))).toBe(true);
  });
});
