/** nginx for the lab's servers: the machine's own or a private copy of Debian's package. No service is installed or started. */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Nginx {
  /** Absolute path. */
  program: string;
  /** Folder with shared libraries for it; absent for the machine's own nginx. */
  libraries?: string;
}

/** The oldest version that the configuration fits, `[major, minor]`: Debian 12's. */
const VERSION: [number, number] = [1, 22];
const REMEDY = `install nginx ${VERSION.join('.')} or later, or name one in HOPWISE_NGINX`;
/** Where packages put it; users' PATH may lack such folders. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];
const APT_TIMEOUT_MS = 240_000;

/**
 * The nginx that `HOPWISE_NGINX` names, else the machine's own, else the private copy, which is made where it is missing:
 * downloaded by apt from the machine's sources and unpacked into the user's data folder, without root.
 *
 * @throws Error in one line
 */
export async function nginxProgram(log: (line: string) => void = () => {}): Promise<Nginx> {
  const given = process.env.HOPWISE_NGINX;
  if (given) {
    const nginx = { program: given };
    if (!isAbsolute(given)) throw new Error(`HOPWISE_NGINX: expected an absolute path, got ${given}`);
    if (!(await isUsable(nginx))) throw new Error(`HOPWISE_NGINX: ${given} cannot be used: ${REMEDY}`);
    return nginx;
  }
  const folders = [...(process.env.PATH ?? '').split(':').filter(isAbsolute), ...SYSTEM_FOLDERS];
  const candidates: Nginx[] = folders.map((folder) => ({ program: join(folder, 'nginx') }));
  for (const version of await readdir(copiesFolder()).catch(() => []))
    if (!version.startsWith('.')) candidates.push(copyIn(join(copiesFolder(), version)));
  for (const nginx of candidates) if (await isUsable(nginx)) return nginx;
  return makeCopy(log);
}

const copyIn = (folder: string): Nginx => ({ program: join(folder, 'nginx'), libraries: folder });

/** One folder for each version of the package. */
function copiesFolder(): string {
  const data = process.env.XDG_DATA_HOME;
  return join(data && isAbsolute(data) ? data : join(homedir(), '.local/share'), 'hopwise/nginx');
}

/** Whether it runs and is new enough. */
async function isUsable({ program, libraries }: Nginx): Promise<boolean> {
  try {
    const env = { ...process.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) };
    const { stderr } = await run(program, ['-v'], { env });
    const [major = 0, minor = 0] = (/nginx\/(\d+)\.(\d+)/.exec(stderr) ?? []).slice(1).map(Number);
    return major > VERSION[0] || (major === VERSION[0] && minor >= VERSION[1]);
  } catch {
    return false;
  }
}

async function makeCopy(log: (line: string) => void): Promise<Nginx> {
  const work = await mkdtemp(join(tmpdir(), 'hopwise-nginx-'));
  await mkdir(copiesFolder(), { recursive: true });
  const fresh = await mkdtemp(join(copiesFolder(), '.new-'));
  try {
    log("downloading Debian's nginx for the lab's servers");
    let version = '';
    for (const file of await download(work)) {
      const { stdout } = await run('dpkg-deb', ['-f', file, 'Package', 'Version']);
      const name = /^Package: (.*)$/m.exec(stdout)?.[1] ?? '';
      if (name === 'nginx') version = /^Version: (.*)$/m.exec(stdout)?.[1] ?? '';
      const unpacked = join(work, 'unpacked', name);
      await mkdir(unpacked, { recursive: true });
      await run('dpkg-deb', ['-x', file, unpacked]);
      await copyParts(unpacked, fresh);
    }
    await chmod(fresh, 0o755);
    if (!(await isUsable(copyIn(fresh)))) throw new Error('the downloaded package cannot be used');
    const target = join(copiesFolder(), version.replace(/[^\w.+~-]/g, '_'));
    // Another process may have made the same copy meanwhile.
    await rename(fresh, target).catch(async (error) => {
      if (!(await isUsable(copyIn(target)))) throw error;
    });
    return copyIn(target);
  } catch (error) {
    throw new Error(`nginx is missing, and no copy could be made (${reason(error)}): ${REMEDY}`);
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Downloads nginx with the packages it needs and the machine lacks, by the machine's own package lists or, where these are
 * missing or old, by fresh ones.
 *
 * @param folder empty
 * @returns paths of the packages
 */
async function download(folder: string): Promise<string[]> {
  // As root, apt drops to a user of its own, which must be able to reach its folders.
  await chmod(folder, 0o755);
  const [archives, lists] = [join(folder, 'archives'), join(folder, 'lists')];
  for (const part of [archives, lists]) await mkdir(join(part, 'partial'), { recursive: true });
  const apt = (words: string[], own: Record<string, string> = {}) => {
    const settings = {
      'Dir::Cache': folder,
      'Dir::Cache::archives': archives,
      'Debug::NoLocking': 'true',
      ...own,
    };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
    const env = { ...process.env, LC_ALL: 'C' };
    return run('apt-get', ['-q', '-y', ...options, ...words], {
      env,
      timeout: APT_TIMEOUT_MS,
      maxBuffer: 2 ** 24,
    });
  };
  const install = ['install', '--download-only', '--no-install-recommends', 'nginx'];
  await apt(install).catch(async () => {
    const fresh = { 'Dir::State::lists': lists };
    await apt(['--error-on=any', 'update'], fresh);
    await apt(install, fresh);
  });
  const names = (await readdir(archives)).filter((name) => name.endsWith('.deb'));
  return names.map((name) => join(archives, name));
}

/** Copies the program and the shared libraries of an unpacked package, each under the name that it is looked up by. */
async function copyParts(unpacked: string, target: string): Promise<void> {
  for (const entry of await readdir(unpacked, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isProgram = path === join(unpacked, 'usr/sbin/nginx');
    if (!isProgram && (entry.isDirectory() || !/\.so\.\d/.test(entry.name))) continue;
    // Links to libraries become files of their own; what links outside of the package leads nowhere here.
    await copyFile(path, join(target, entry.name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** apt's first error, else the first line of the message. */
function reason(error: unknown): string {
  const { message, code, stderr = '' } = error as Error & { code?: string; stderr?: string };
  if (code === 'ENOENT') return 'apt-get and dpkg-deb are needed for it';
  const words = stderr.split('\n').find((line) => line.startsWith('E:'));
  return words?.slice(2).trim() ?? message.split('\n')[0]!;
}
