/** A bare Debian with this machine's Node under `/usr/local` and a fresh clone of HEAD. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findOnPath, ROOT } from '../setup/programs.mjs';
import { unpackDebian, wordsToEnter } from './debian-root.ts';
import { writeRegistries } from './registries.ts';

const USER_ID = 1000;

/** Who runs the command: root, or an ordinary user who may use sudo, with the PATH that Debian gives them. */
export const USERS = {
  root: { home: '/root', path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', packages: [] },
  user: { home: '/home/user', path: '/usr/local/bin:/usr/bin:/bin', packages: ['sudo'] },
} as const;
export type User = keyof typeof USERS;

interface BareRootOptions {
  user: User;
  log: (text: string) => void;
}

export class BareRoot {
  readonly #folder: string;
  readonly #user: User;
  readonly #variables: Record<string, string>;
  readonly #janitor: ChildProcess;
  readonly #removed: Promise<unknown>;
  #running: ChildProcess | null = null;

  private constructor(folder: string, user: User, variables: Record<string, string>) {
    this.#folder = folder;
    this.#user = user;
    this.#variables = variables;
    this.#janitor = startJanitor(folder);
    this.#removed = new Promise((resolve) => this.#janitor.once('close', resolve));
  }

  /** Needs root. @throws Error or SetupError in a few lines */
  static async create({ user, log }: BareRootOptions): Promise<BareRoot> {
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-bare-'));
    const root = new BareRoot(folder, user, {});
    try {
      chmodSync(folder, 0o755);
      await unpackDebian(folder, USERS[user].packages, log);
      writeFileSync(join(folder, 'etc/hosts'), '127.0.0.1 localhost bare\n');
      Object.assign(root.#variables, writeRegistries(folder));
      copyNode(folder);
      addClone(folder, user);
      return root;
    } catch (error) {
      await root.remove();
      throw error;
    }
  }

  /** Runs a command in the clone. @returns its exit code; what it prints goes to `log` */
  run(words: readonly string[], log: (text: string) => void): Promise<number> {
    const { home, path } = USERS[this.#user];
    const env = {
      PATH: path,
      HOME: home,
      USER: this.#user,
      LOGNAME: this.#user,
      LANG: 'C.UTF-8',
      ...this.#variables,
    };
    const assigned = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const become =
      this.#user === 'root' ? [] : ['setpriv', `--reuid=${USER_ID}`, `--regid=${USER_ID}`, '--init-groups'];
    const inside = [
      ...become,
      'env',
      '-i',
      ...assigned,
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      `${home}/hopwise`,
      ...words,
    ];
    const [program = '', ...entering] = wordsToEnter(this.#folder, { hasNetwork: true });
    const child = spawn(program, [...entering, ...inside], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running = child;
    child.stdout.setEncoding('utf8').on('data', log);
    child.stderr.setEncoding('utf8').on('data', log);
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
  }

  /** Whether the clone has this file. */
  has(path: string): boolean {
    return existsSync(join(this.#folder, USERS[this.#user].home, 'hopwise', path));
  }

  /** Ends what runs and removes the folder. */
  async remove(): Promise<void> {
    // unshare(1) blocks the signals that ask; the kernel ends its child with it, and so all of its namespace.
    this.#running?.kill('SIGKILL');
    this.#janitor.stdin!.end();
    await this.#removed;
  }
}

/** Removes the folder when its input ends, which it does with this process too. */
function startJanitor(folder: string): ChildProcess {
  const script =
    'cat > /dev/null; for i in 1 2 3 4 5; do rm -rf --one-file-system "$0" && exit; sleep 1; done';
  return spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
}

/** Copies this machine's Node and npm to the places where Node's own archive has them: Node is what README asks for. */
function copyNode(folder: string): void {
  const node = findOnPath('node');
  const npm = findOnPath('npm');
  if (!node || !npm) throw new Error('there are no node and npm on the PATH');
  const local = join(folder, 'usr/local');
  // npm's command is a link to npm/bin/npm-cli.js.
  const npmFolder = dirname(dirname(realpathSync(npm)));
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  cpSync(realpathSync(node), join(local, 'bin/node'));
  cpSync(npmFolder, join(local, 'lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
}

/** Adds the user and a clone of HEAD in the user's home. */
function addClone(folder: string, user: User): void {
  const home = join(folder, USERS[user].home);
  if (user !== 'root') {
    execFileSync('chroot', [
      folder,
      'useradd',
      '--create-home',
      '--uid',
      `${USER_ID}`,
      '--shell',
      '/bin/bash',
      user,
    ]);
    writeFileSync(join(folder, 'etc/sudoers.d/user'), `${user} ALL=(ALL) NOPASSWD: ALL\n`, { mode: 0o440 });
  }
  const clone = join(home, 'hopwise');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone]);
  execFileSync('git', ['-C', clone, 'remote', 'remove', 'origin']);
  if (user !== 'root') execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, home]);
}
