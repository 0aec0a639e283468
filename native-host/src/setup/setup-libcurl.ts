/** The private copy of a libcurl with HTTP/3, for systems whose own has none. */
import { execFile } from 'node:child_process';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { canSetUp, http3InstallHint, osRelease } from '../base/install-hints.ts';
import { PRIVATE_LIBRARY, privateCopies, privateFolder } from '../curl/candidates.ts';
import { Engine, type EngineInfo, engineLine } from '../engine/engine.ts';
import { BackportsApt } from './apt.ts';
import { type LibcurlPackage, packageOf, recordPackage } from './libcurl-package.ts';
import { checkForUpdate, PACKAGE, type UpdateCheck } from './libcurl-update.ts';

const run = promisify(execFile);

interface SetupOptions {
  /** Only report; change nothing. */
  check?: boolean;
  /** Replace the private copy by a newer version, if Debian offers one. */
  update?: boolean;
  /** Do not ask Debian for a newer version. */
  offline?: boolean;
  /** Progress, a line at a time. */
  log?: (line: string) => void;
}

export interface SetupResult {
  /**
   * `present`: a libcurl with HTTP/3 was there already; `installed`: it is now; `updated`: the private copy was replaced by a
   * newer version; `missing`: setup can install it; `unsupported`: only the user can, see `fix`.
   */
  state: 'present' | 'installed' | 'updated' | 'missing' | 'unsupported';
  /** Path of the libcurl in use, '' when there is none. */
  path: string;
  /** Its version line, '' when there is none. */
  engine: string;
  http3: boolean;
  /** The package of a private copy; null for any other libcurl, which its own installer updates. */
  package: LibcurlPackage | null;
  /** Whether there is a newer package; null where Debian was not asked. */
  update: UpdateCheck | null;
  /** What to do, in one line; '' when nothing is. */
  fix: string;
}

/** Packages of the same source that apt downloads as well; none of them is used. */
const UNUSED = /^(curl|libcurl4|libcurl4-.*|.*-dev)$/;

/**
 * Finds a libcurl with HTTP/3 or, on Debian 12, makes a private copy of bookworm-backports'
 * `libcurl3-gnutls` in the user's data folder: signed packages, no root, whole or not at all.
 *
 * @throws Error in one line when the download or the copy fails; then nothing is changed.
 */
export async function setupLibcurl(options: SetupOptions = {}): Promise<SetupResult> {
  const log = options.log ?? (() => {});
  const found = await engineFound();
  if (found?.http3) return present(found, options, log);
  if (!canSetUp()) return result('unsupported', found, http3InstallHint());
  if (options.check) return result('missing', found, http3InstallHint());
  return result('installed', await install(log));
}

async function present(
  found: EngineInfo,
  options: SetupOptions,
  log: (line: string) => void,
): Promise<SetupResult> {
  const copy = packageOf(found.path);
  if (!copy && options.update)
    throw new Error(`${found.path} is not a private copy: its installer updates it`);
  const update = copy && !options.offline ? await checkForUpdate(copy) : null;
  if (!options.update || !update) return { ...result('present', found), update };
  if (update.state === 'unchecked') throw new Error(`nothing was changed: ${update.problem}`);
  if (update.state === 'current') return { ...result('present', found), update };
  const installed = await install(log);
  await removeOtherCopies(dirname(installed.path));
  return result('updated', installed);
}

function result(state: SetupResult['state'], info: EngineInfo | null, fix = ''): SetupResult {
  return {
    state,
    path: info?.path ?? '',
    engine: info ? engineLine(info) : '',
    http3: info?.http3 ?? false,
    package: info ? packageOf(info.path) : null,
    update: null,
    fix,
  };
}

/** The libcurl that an engine of this user would start with; null for none. */
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

/** A newer copy is found before older ones, so that these are removed last. */
async function removeOtherCopies(folder: string): Promise<void> {
  for (const copy of privateCopies()) if (copy !== folder) await rm(copy, { recursive: true });
}

async function install(log: (line: string) => void): Promise<EngineInfo> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-setup-'));
  await mkdir(privateFolder(), { recursive: true, mode: 0o755 });
  const fresh = await mkdtemp(join(privateFolder(), '.new-'));
  try {
    const suite = osRelease().codename;
    const apt = await BackportsApt.open({ suite, folder: work, log });
    let version = '';
    for (const file of await apt.download(PACKAGE)) {
      const { stdout } = await run('dpkg-deb', ['-f', file, 'Package', 'Version']);
      const name = /^Package: (.*)$/m.exec(stdout)?.[1] ?? '';
      if (name === PACKAGE) version = /^Version: (.*)$/m.exec(stdout)?.[1] ?? '';
      if (UNUSED.test(name)) continue;
      log(`unpacking ${basename(file)}`);
      const unpacked = join(work, 'unpacked', name);
      await mkdir(unpacked, { recursive: true });
      await run('dpkg-deb', ['-x', file, unpacked]);
      const builtMs = await copyLibraries(unpacked, fresh);
      if (name === PACKAGE) {
        // Debian's builds are reproducible: no file of a package is newer than its changelog entry.
        await recordPackage(fresh, { version, released: new Date(builtMs).toISOString().slice(0, 10) });
      }
    }
    if (!version) throw new Error(`apt downloaded no ${PACKAGE}`);
    await chmod(fresh, 0o755);
    const trial = await engineFound(join(fresh, PRIVATE_LIBRARY));
    if (!trial?.http3) throw new Error(`${PACKAGE} ${version} was unpacked but does not load with HTTP/3`);
    const target = join(privateFolder(), version.replace(/[^\w.+~-]/g, '_'));
    // A folder of this name without a library is unused.
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

/**
 * Copies the shared libraries of an unpacked package, links as links.
 *
 * @returns the time of the newest library, milliseconds since 1970.
 */
async function copyLibraries(unpacked: string, target: string): Promise<number> {
  let newestMs = 0;
  for (const entry of await readdir(unpacked, { recursive: true, withFileTypes: true })) {
    if (!/\.so\.\d/.test(entry.name)) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, entry.name);
    if (entry.isSymbolicLink()) {
      const pointsTo = basename(await readlink(from));
      await symlink(pointsTo, to).catch(() => {});
    } else if (entry.isFile()) {
      await copyFile(from, to);
      newestMs = Math.max(newestMs, (await stat(from)).mtimeMs);
    }
  }
  return newestMs;
}
