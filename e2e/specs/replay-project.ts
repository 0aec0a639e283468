/** A project outside this checkout that has installed the fixtures. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { expect } from '@playwright/test';

const run = promisify(execFile);
/** The packages that such a project installs. */
const PACKAGES = ['contract', 'pageload-emulator', 'lab', 'e2e'];
/** What `npm run package -- playwright` runs. */
const PACK = [join(ROOT, 'scripts/package/main.ts'), 'playwright'];
const TRANSFORM_CACHE = join(tmpdir(), 'playwright-transform-cache-of-projects');
const MODULES = join(ROOT, 'node_modules');

export interface Ended {
  code: number;
  /** What the list reporter printed, without colours. */
  output: string;
}

export interface RunOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Words put before the command. */
  prefix?: string[];
  /** Called with all of the output so far whenever it grows. */
  onOutput?: (text: string, child: ChildProcess) => void;
}

/** What a project installs can neither be fetched nor is in npm's cache. */
export class RegistryUnreachable extends Error {
  override readonly name = 'RegistryUnreachable';
}

export class ReplayProject {
  readonly folder: string;
  /** Temporary folder of its tests; a separate one, so that other programs' files are not mistaken for theirs. */
  readonly temporary: string;

  /** Where its tests find Playwright: a second copy would be refused. */
  readonly #modules: string;

  private constructor(folder: string, modules: string) {
    this.folder = folder;
    this.temporary = join(folder, 'tmp');
    this.#modules = modules;
  }

  /** An empty project with the built packages, linked. */
  static async linked(): Promise<ReplayProject> {
    const project = await ReplayProject.#empty(MODULES);
    const modules = join(project.folder, 'node_modules');
    await mkdir(join(modules, '@hopwise'), { recursive: true });
    for (const name of await readdir(MODULES)) {
      if (name !== '@hopwise') await symlink(join(MODULES, name), join(modules, name));
    }
    for (const name of PACKAGES) await symlink(join(ROOT, name), join(modules, '@hopwise', name));
    return project;
  }

  /**
   * A copy of a project that names the tarballs in its folder `hopwise`, with all its dependencies installed by npm.
   *
   * @throws RegistryUnreachable
   */
  static async installed(source: string): Promise<ReplayProject> {
    const project = await ReplayProject.#empty(null);
    try {
      await cp(source, project.folder, {
        recursive: true,
        filter: (path) => !/node_modules|test-results|playwright-report/.test(path),
      });
      await run(process.execPath, [...PACK, join(project.folder, 'hopwise')]);
      const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0'];
      await run('npm', words, { cwd: project.folder });
      return project;
    } catch (error) {
      await project.remove();
      const { stderr = '' } = error as { stderr?: string };
      const reason =
        /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED)\b/.exec(stderr);
      if (reason) throw new RegistryUnreachable(`npm reaches no package registry (${reason[1]})`);
      throw error;
    }
  }

  /** @param modules with Playwright; null for the project's own */
  static async #empty(modules: string | null): Promise<ReplayProject> {
    const folder = await mkdtemp(join(tmpdir(), 'hw-'));
    const project = new ReplayProject(folder, modules ?? join(folder, 'node_modules'));
    await mkdir(project.temporary);
    return project;
  }

  /** `npx playwright test`. */
  test({ args = [], env = {}, prefix = [], onOutput }: RunOptions = {}): Promise<Ended> {
    const cli = join(this.#modules, '@playwright/test/cli.js');
    const words = [...prefix, process.execPath, cli, 'test', '--reporter', 'list', ...args];
    return new Promise((resolve, reject) => {
      const child = spawn(words[0] as string, words.slice(1), {
        cwd: this.folder,
        env: {
          ...process.env,
          TMPDIR: this.temporary,
          FORCE_COLOR: '0',
          // What Playwright has compiled of the packages, for all projects; another user may not write there.
          ...(prefix.length === 0 && { PLAYWRIGHT_TRANSFORM_CACHE_DIR: TRANSFORM_CACHE }),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      const take = (chunk: Buffer) => {
        output += chunk;
        onOutput?.(output, child);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? -1, output }));
    });
  }

  /** Processes that its tests have started, as `<pid> <command line>`: all of them know its temporary folder. */
  async processes(): Promise<string[]> {
    const lines = (await readdir('/proc')).map(async (pid) => {
      if (!/^\d+$/.test(pid)) return '';
      try {
        const [command = '', environment = ''] = await Promise.all(
          ['cmdline', 'environ'].map((file) => readFile(join('/proc', pid, file), 'utf8')),
        );
        return `${command}${environment}`.includes(this.temporary)
          ? `${pid} ${command.replaceAll('\0', ' ').slice(0, 200)}`
          : '';
      } catch {
        // It has ended meanwhile.
        return '';
      }
    });
    return (await Promise.all(lines)).filter((line) => line !== '');
  }

  /** What its tests have left in its temporary folder. */
  async leftovers(): Promise<string[]> {
    return (await readdir(this.temporary)).filter(
      (name) => !/^(playwright-transform-cache|node-)/.test(name),
    );
  }

  /** Waits until nothing of its tests is left: the kernel takes a process back a moment after it was ended. */
  async expectNothingLeft(): Promise<void> {
    await expect.poll(() => this.processes(), { timeout: 60_000 }).toEqual([]);
    expect(await this.leftovers()).toEqual([]);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
