/**
 * A Go for the lab in `.cache/go`, for machines that have none or an older one: the Go project's own build from the module
 * proxy, pinned by hash. It takes a Go to fetch it, which may be as old as 1.21: that of the machine, else one of Debian's
 * backports, which is unpacked for this purpose and deleted.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { canSetUp, osRelease } from '../../native-host/src/base/install-hints.ts';
import { BackportsApt } from '../../native-host/src/setup/apt.ts';
import { findGo, GO_TOOLCHAIN, OWN_GO_FOLDER, oldestGo } from './go.mjs';

const run = promisify(execFile);

/** The first Go that fetches another version by itself. */
const OLDEST_FETCHING = '1.21';
const DEBIAN_PACKAGE = 'golang-1.23-go';
const DEBIAN_GO = 'usr/lib/go-1.23/bin/go';

/** Unpacks Debian's Go into an empty folder. @returns the path of the command */
async function unpackDebianGo(folder: string): Promise<string> {
  if (!canSetUp()) throw new Error(`install Go ${oldestGo()} or later (https://go.dev/dl/)`);
  const suite = osRelease().codename;
  const apt = await BackportsApt.open({ suite, folder, log: console.log });
  const [version = ''] = await apt.versions(DEBIAN_PACKAGE);
  console.log(`downloading ${DEBIAN_PACKAGE} ${version}`);
  const [file] = await apt.downloadVersions([{ name: DEBIAN_PACKAGE, version }]);
  await run('dpkg-deb', ['-x', file!, join(folder, 'unpacked')]);
  return join(folder, 'unpacked', DEBIAN_GO);
}

async function main(): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-go-'));
  try {
    const go = findGo(OLDEST_FETCHING) ?? (await unpackDebianGo(work));
    const { version, module, sum } = GO_TOOLCHAIN;
    const env = { ...process.env, GOMODCACHE: OWN_GO_FOLDER, GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'local' };
    console.log(`downloading Go ${version} from the Go module proxy`);
    const { stdout } = await run(go, ['mod', 'download', '-json', module], { env, cwd: work });
    const found = JSON.parse(stdout) as { Sum: string };
    if (found.Sum !== sum) {
      await rm(OWN_GO_FOLDER, { recursive: true });
      throw new Error(`${module}: expected ${sum}, found ${found.Sum}`);
    }
    // Modules hold no modes: Go makes the programs of a toolchain executable when it first runs it.
    await run(go, ['version'], { env: { ...env, GOTOOLCHAIN: `go${version}` }, cwd: work });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`error: ${(error as Error).message.split('\n')[0]}`);
  process.exitCode = 1;
}
