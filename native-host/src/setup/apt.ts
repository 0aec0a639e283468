/** apt with folders of its own: downloads signed packages without root and without touching the machine's state. */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TIMEOUT_MS = 240_000;
const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

interface AptOptions {
  /** Code name of the Debian release, such as `bookworm`. */
  suite: string;
  /** An empty folder; apt's lists and cache stay in it. */
  folder: string;
  /** Debian's name of the architecture, such as `arm64`; by default the machine's. */
  architecture?: string;
  /** Limit on each call of apt; four minutes unless given. */
  timeoutMs?: number;
  log: (line: string) => void;
}

/** Debian's backports for the machine's release. Every method throws an Error in one line. */
export class BackportsApt {
  readonly #options: AptOptions;
  readonly #uri: string;
  readonly #configuration: string;

  private constructor(options: AptOptions, uri: string, configuration: string) {
    this.#options = options;
    this.#uri = uri;
    this.#configuration = configuration;
  }

  /** @throws Error when apt or Debian's keyring is missing, or apt has no source of the release. */
  static async open(options: AptOptions): Promise<BackportsApt> {
    await access(DEBIAN_KEYRING).catch(() => {
      throw new Error(`${DEBIAN_KEYRING} is missing: sudo apt install debian-archive-keyring`);
    });
    const configuration = await writeConfiguration(options);
    return new BackportsApt(options, await mirror(options), configuration);
  }

  /**
   * Downloads `name` with every dependency that this machine lacks.
   *
   * @returns paths of the packages.
   */
  async download(name: string): Promise<string[]> {
    const { suite, folder, log } = this.#options;
    const install = ['-q', '-y', '--download-only', '--no-install-recommends', '-t', `${suite}-backports`];
    const from = async (suites: string[]): Promise<void> => {
      await this.#update(suites);
      log(`downloading ${name}`);
      await this.#run('apt-get', [...install, 'install', '--reinstall', name]);
    };
    try {
      // Half a megabyte of lists; enough where the library's usual dependencies are installed.
      await from([`${suite}-backports`]);
    } catch {
      await from([`${suite}-backports`, suite]).catch((fault: Error) => {
        throw new Error(`apt could not download ${name}: ${reasonOf(fault)}`);
      });
    }
    const archives = archivesIn(folder);
    const names = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
    return names.map((file) => join(archives, file));
  }

  /**
   * Downloads packages of exactly these versions, without what they depend on.
   *
   * @returns paths of the packages, in no particular order
   */
  async downloadVersions(packages: readonly { name: string; version: string }[]): Promise<string[]> {
    const { suite, folder } = this.#options;
    const archives = archivesIn(folder);
    try {
      await this.#update([`${suite}-backports`]);
      const words = packages.map(({ name, version }) => `${name}=${version}`);
      await this.#run('apt-get', ['-q', 'download', ...words], archives);
    } catch (fault) {
      throw new Error(`apt could not download the packages: ${reasonOf(fault as Error)}`);
    }
    const names = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
    return names.map((file) => join(archives, file));
  }

  /** Versions of `name` on offer, in no particular order; empty for none. */
  async versions(name: string): Promise<string[]> {
    const { suite } = this.#options;
    try {
      await this.#update([`${suite}-backports`]);
      const { stdout } = await this.#run('apt-cache', ['madison', name]);
      // Such as ` libcurl3-gnutls | 8.14.1-2~bpo12+1 | MIRROR bookworm-backports/main amd64 Packages`.
      return stdout.split('\n').flatMap((line) => {
        const [found, version, source = ''] = line.split('|').map((column) => column.trim());
        return found === name && version && source.includes(`${suite}-backports/`) ? [version] : [];
      });
    } catch (fault) {
      throw new Error(`apt could not read the package lists: ${reasonOf(fault as Error)}`);
    }
  }

  async #update(suites: string[]): Promise<void> {
    const { folder, log } = this.#options;
    const source = [
      'Types: deb',
      `URIs: ${this.#uri}`,
      `Suites: ${suites.join(' ')}`,
      'Components: main',
      `Signed-By: ${DEBIAN_KEYRING}`,
      '',
    ].join('\n');
    await writeFile(join(folder, 'sources', 'hopwise.sources'), source);
    log(`reading the package lists of ${suites.join(', ')} from ${this.#uri}`);
    // Without --error-on=any a server that cannot be reached is a warning.
    await this.#run('apt-get', ['-q', '--error-on=any', 'update']);
  }

  #run(program: string, words: string[], cwd = this.#options.folder): Promise<{ stdout: string }> {
    const env = { ...process.env, APT_CONFIG: this.#configuration, LC_ALL: 'C' };
    const { timeoutMs: timeout = TIMEOUT_MS } = this.#options;
    return run(program, words, { cwd, env, timeout, maxBuffer: 16 * 1024 * 1024 });
  }
}

/**
 * The mirror of the machine's configured Debian source, by its sources alone: a fresh machine has no package lists, and while lists are
 * fetched they cannot be read.
 *
 * @throws Error in one line when there is none
 */
async function mirror({ suite, folder }: AptOptions): Promise<string> {
  const { stdout } = await run('apt-get', [
    ...['-o', `Dir::State::lists=${listsIn(folder)}`],
    'indextargets',
    '--no-release-info',
    '--format',
    '$(REPO_URI)|$(RELEASE)|$(COMPONENT)',
    'Identifier: Packages',
  ]);
  const lines = stdout.split('\n').map((line) => line.split('|'));
  const found = lines.find(
    ([uri, release, component]) =>
      uri && release === suite && component === 'main' && !uri.includes('security'),
  );
  if (!found?.[0])
    throw new Error(`apt has no source of Debian ${suite} (main) from which to take its backports`);
  return found[0];
}

function listsIn(folder: string): string {
  return join(folder, 'lists');
}

function archivesIn(folder: string): string {
  return join(folder, 'cache', 'archives');
}

/** @returns the path of the configuration file. */
async function writeConfiguration({ folder, architecture }: AptOptions): Promise<string> {
  // As root, apt drops to a user of its own, which must be able to reach its folders.
  await chmod(folder, 0o755);
  const archives = archivesIn(folder);
  for (const part of [join(listsIn(folder), 'partial'), join(archives, 'partial'), join(folder, 'sources')]) {
    await mkdir(part, { recursive: true });
  }
  // The machine's proxies and timeouts apply; its hooks, pins and sources do not.
  const { stdout: acquire } = await run('apt-config', ['dump', 'Acquire']);
  const configuration = join(folder, 'apt.conf');
  const settings = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(folder, 'sources'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': listsIn(folder),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': 'true',
    'Acquire::Languages': 'none',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowWeakRepositories': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
    ...(architecture ? { 'APT::Architecture': architecture, 'APT::Architectures': architecture } : {}),
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";`);
  // It may hold a proxy's password, and the folder is open to all.
  await writeFile(configuration, `${acquire}\n${lines.join('\n')}\n`, { mode: 0o600 });
  return configuration;
}

/** apt's first error, else the first line of Node's message. */
function reasonOf({ message, stderr = '', killed }: Error & { stderr?: string; killed?: boolean }): string {
  if (killed) return 'it did not end in time';
  // apt itself only recommends what it checks signatures with.
  if (/gpgv.* required/.test(stderr)) return 'it needs gpgv to check signatures: apt-get install gpgv';
  const words = stderr.split('\n').find((line) => line.startsWith('E:'));
  return words?.slice(2).trim() ?? message.split('\n')[0]!;
}
