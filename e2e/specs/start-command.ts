import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Report } from '@hopwise/extension/report';
import { ROOT } from '@hopwise/lab/paths';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
  elapsedMs: number;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** Words put before the command, such as those that enter the lab's namespaces. */
  prefix?: string[];
  /** Called with all of stderr so far whenever it grows; may end the process. */
  onStderr?: (text: string, child: ChildProcess) => void;
  /** Through the npm script's own program, which checks the set-up first. */
  viaScript?: boolean;
}

/** Runs what `npm start` runs once the set-up is done. */
export function start(
  args: string[],
  { env = {}, prefix = [], onStderr, viaScript }: RunOptions = {},
): Promise<Ended> {
  const program = viaScript
    ? [join(ROOT, 'scripts/hopwise.mjs'), 'start']
    : [join(ROOT, 'e2e/dist/start/main.js')];
  const words = [...prefix, process.execPath, ...program, ...args];
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(words[0] as string, words.slice(1), {
      // Playwright's workers ask for colours.
      env: { ...process.env, FORCE_COLOR: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      onStderr?.(stderr, child);
    });
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code: code ?? -1, stdout, stderr, elapsedMs: performance.now() - began }),
    );
  });
}

/**
 * Path of a libcurl with HTTP/3 that other users can load too, as `HOPWISE_LIBCURL` takes it. Nobody else may enter the home folder
 * that has a private copy, so that it is copied to `folder`; a libcurl of the system is there for all.
 *
 * @param folder one that the other user can enter
 */
export async function libcurlForOthers(folder: string): Promise<string> {
  const words = [join(ROOT, 'native-host/dist/bin/hopwise-host.js'), 'status', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const { libcurl } = JSON.parse(stdout) as { libcurl: string };
  if (!libcurl.startsWith(homedir())) return libcurl;
  const copy = join(folder, 'libcurl');
  await cp(dirname(libcurl), copy, { recursive: true, verbatimSymlinks: true });
  // Whatever the umask is.
  await chmod(copy, 0o755);
  for (const name of await readdir(copy)) await chmod(join(copy, name), 0o644);
  return join(copy, basename(libcurl));
}

/**
 * Words that run a command as a user without rights, with a /dev/net/tun of this mode whatever the machine's is.
 * It takes root. `folder` must be one that the user can enter.
 */
export function asNobody(folder: string, tunMode: number): string[] {
  const tun = join(folder, 'tun');
  const script = `mknod -m ${tunMode.toString(8)} ${tun} c 10 200 && mount --bind ${tun} /dev/net/tun &&
    ${openCheckout(folder)} exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`;
  return ['unshare', '--mount', 'sh', '-c', script, 'sh'];
}

/**
 * A checkout below a home that others may not enter, such as root's, is mounted at its own path in an empty home that all may
 * enter. @returns shell commands that keep the working folder, with `&&` behind them; '' where all may enter
 */
function openCheckout(folder: string): string {
  const above: string[] = [];
  for (let path = dirname(ROOT); path !== '/'; path = dirname(path)) above.unshift(path);
  const closed = above.find((path) => (statSync(path).mode & 0o001) === 0);
  if (closed === undefined) return '';
  const checkout = join(folder, 'checkout');
  return `here=$PWD && mkdir ${checkout} && mount --bind ${ROOT} ${checkout} && mount -t tmpfs -o mode=755 tmpfs ${closed} &&
    mkdir -p ${ROOT} && mount --bind ${checkout} ${ROOT} && cd "$here" &&`;
}

/** Runs `start` with an output folder of its own and returns its report beside how it ended. */
export async function startReport(
  args: string[],
  options?: RunOptions,
): Promise<Ended & { report: Report; html: string }> {
  const out = await mkdtemp(join(tmpdir(), 'hw-out-'));
  try {
    const ended = await start([...args, '--out', out], options);
    if (ended.code !== 0)
      throw new Error(`start ${args.join(' ')} ended with ${ended.code}:\n${ended.stderr}`);
    return {
      ...ended,
      report: JSON.parse(await readFile(join(out, 'report.json'), 'utf8')) as Report,
      html: await readFile(join(out, 'report.html'), 'utf8'),
    };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
