/** The private copy of a libcurl with HTTP/3, for systems whose own has none. */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { canSetUp, http3InstallHint, osRelease } from '../base/install-hints.ts';
import { PRIVATE_LIBRARY, privateFolder } from '../curl/candidates.ts';
import { Engine, type EngineInfo, engineLine } from '../engine/engine.ts';
import { downloadFromBackports } from './apt.ts';

const run = promisify(execFile);

export interface SetupOptions {
  /** Say what is there and change nothing. */
  check?: boolean;
  /** Progress, a line at a time. */
  log?: (line: string) => void;
}

export interface SetupResult {
  /**
   * `present`: a libcurl with HTTP/3 was there already; `installed`: it is now; `missing`: setup can
   * install it; `unsupported`: only the user can, see `fix`.
   */
  state: 'present' | 'installed' | 'missing' | 'unsupported';
  /** Path of the libcurl in use, '' when there is none. */
  path: string;
  /** Its version line, '' when there is none. */
  engine: string;
  http3: boolean;
  /** What to do, in one line; '' when nothing is. */
  fix: string;
}

const PACKAGE = 'libcurl3-gnutls';

/** Packages that apt takes along because they belong to the same source; nothing of them is used. */
const UNUSED = /^(curl|libcurl4|libcurl4-.*|.*-dev)$/;

/**
 * Finds a libcurl with HTTP/3 or, on Debian 12, makes a private copy of bookworm-backports'
 * `libcurl3-gnutls` in the user's data folder: signed packages, no root, whole or not at all.
 *
 * @throws Error in one line when the download or the copy fails; then nothing is left behind.
 */
export async function setupLibcurl(options: SetupOptions = {}): Promise<SetupResult> {
  const log = options.log ?? (() => {});
  const found = await engineFound();
  if (found?.http3) return result('present', found, '');
  if (!canSetUp()) return result('unsupported', found, http3InstallHint());
  if (options.check) return result('missing', found, http3InstallHint());
  const installed = await install(log);
  return result('installed', installed, '');
}

function result(state: SetupResult['state'], info: EngineInfo | null, fix: string): SetupResult {
  return {
    state,
    path: info?.path ?? '',
    engine: info ? engineLine(info) : '',
    http3: info?.http3 ?? false,
    fix,
  };
}

/** What an engine of this user would start with; null when it would not. */
async function engineFound(libcurl?: string): Promise<EngineInfo | null> {
  const engine = new Engine({ libcurl });
  try {
    return await engine.start();
  } catch {
    return null;
  } finally {
    await engine.close();
  }
}

async function install(log: (line: string) => void): Promise<EngineInfo> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-setup-'));
  await mkdir(privateFolder(), { recursive: true, mode: 0o755 });
  const fresh = await mkdtemp(join(privateFolder(), '.new-'));
  try {
    const packages = await downloadFromBackports(PACKAGE, osRelease().codename, work, log);
    let version = '';
    for (const file of packages) {
      const { stdout } = await run('dpkg-deb', ['-f', file, 'Package', 'Version']);
      const name = /^Package: (.*)$/m.exec(stdout)?.[1] ?? '';
      if (name === PACKAGE) version = /^Version: (.*)$/m.exec(stdout)?.[1] ?? '';
      if (UNUSED.test(name)) continue;
      log(`unpacking ${basename(file)}`);
      const unpacked = join(work, 'unpacked', name);
      await mkdir(unpacked, { recursive: true });
      await run('dpkg-deb', ['-x', file, unpacked]);
      await copyLibraries(unpacked, fresh);
    }
    if (!version) throw new Error(`apt downloaded no ${PACKAGE}`);
    await chmod(fresh, 0o755);
    const trial = await engineFound(join(fresh, PRIVATE_LIBRARY));
    if (!trial?.http3) throw new Error(`${PACKAGE} ${version} was unpacked but does not load with HTTP/3`);
    const target = join(privateFolder(), version.replace(/[^\w.+~-]/g, '_'));
    // A folder of this name without a library is a leftover that nothing uses.
    await rename(fresh, target).catch(async () => {
      await rm(target, { recursive: true, force: true });
      await rename(fresh, target);
    });
    log(`installed ${engineLine(trial)} in ${target}`);
    return { ...trial, path: join(target, PRIVATE_LIBRARY) };
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(work, { recursive: true, force: true });
  }
}

/** Copies the shared libraries of an unpacked package, links as links. */
async function copyLibraries(unpacked: string, target: string): Promise<void> {
  for (const entry of await readdir(unpacked, { recursive: true, withFileTypes: true })) {
    if (!/\.so\.\d/.test(entry.name)) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, entry.name);
    if (entry.isSymbolicLink()) {
      const pointsTo = basename(await readlink(from));
      await symlink(pointsTo, to).catch(() => {});
    } else if (entry.isFile()) {
      await copyFile(from, to);
    }
  }
}
