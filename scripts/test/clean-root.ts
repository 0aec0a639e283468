/** A root folder that holds Debian's essential packages and those that a package depends on, with no network. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebian, wordsToEnter } from '../fresh/debian-root.ts';

/** Where the user of the root lives. */
export const HOME = '/home/user';

/** Changes with every start, or belongs to dpkg's own records. */
const NOT_COMPARED = /^(proc|dev|tmp|var\/lib\/dpkg|var\/log|var\/cache|etc\/ld\.so\.cache)(\/|$)/;

/** Folders of a user that programs share, and leave. */
const SHARED_FOLDERS = /^home\/user\/\.(config|local(\/(bin|lib|share|state))?) d $/;

export class CleanRoot {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * @param folder to be created
   * @param depends as in a control file
   */
  static async create(folder: string, depends: readonly string[]): Promise<CleanRoot> {
    mkdirSync(folder);
    await unpackDebian(
      folder,
      depends.map((one) => one.split(' ')[0]!),
      () => {},
    );
    mkdirSync(join(folder, HOME), { recursive: true });
    return new CleanRoot(folder);
  }

  /** @returns what the command printed; throws Error with it when the command fails */
  run(words: readonly string[]): string {
    const [program = '', ...entering] = wordsToEnter(this.folder, { hasNetwork: false });
    const { status, stdout, stderr } = spawnSync(program, [...entering, ...words], this.#options());
    if (status !== 0) throw new Error(`${words.join(' ')}: ended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a command with pipes to it. */
  spawn(words: readonly string[]): ChildProcess {
    const [program = '', ...entering] = wordsToEnter(this.folder, { hasNetwork: false });
    return spawn(program, [...entering, ...words], {
      env: this.#options().env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  /** Path, type and target of all that packages and users write: the type is find's `%y`, the target '' but for links. */
  listFiles(): string[] {
    const found = execFileSync('find', ['.', '-xdev', '-printf', '%P %y %l\n'], {
      cwd: this.folder,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    return found
      .split('\n')
      .filter((line) => !NOT_COMPARED.test(line.split(' ')[0]!) && !SHARED_FOLDERS.test(line))
      .sort();
  }

  #options(): { encoding: 'utf8'; env: NodeJS.ProcessEnv } {
    const path = '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin';
    return { encoding: 'utf8', env: { PATH: path, HOME, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' } };
  }
}
