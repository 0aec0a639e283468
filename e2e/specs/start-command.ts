import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
 * Words that run a command as a user without rights, with a /dev/net/tun of this mode whatever the machine's is.
 * It takes root. `folder` must be one that the user can enter.
 */
export function asNobody(folder: string, tunMode: number): string[] {
  const tun = join(folder, 'tun');
  const script = `mknod -m ${tunMode.toString(8)} ${tun} c 10 200 && mount --bind ${tun} /dev/net/tun &&
    exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`;
  return ['unshare', '--mount', 'sh', '-c', script, 'sh'];
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
