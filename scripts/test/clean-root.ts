/** A root folder that holds Debian packages of this machine and nothing else, with no network. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the user of the root lives. */
export const HOME = '/home/user';

/** Changes with every start, or belongs to dpkg's own records. */
const NOT_COMPARED = /^(proc|dev|tmp|var\/lib\/dpkg|var\/log|var\/cache|etc\/ld\.so\.cache)(\/|$)/;

/** Folders of a user that programs share, and leave. */
const SHARED_FOLDERS = /^home\/user\/\.(config|local(\/(bin|lib|share|state))?) d $/;

/** Enters new namespaces of files, processes and network; `$0` is the root. */
const ENTER = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"';

interface Installed {
  depends: string[][];
  isEssential: boolean;
}

export class CleanRoot {
  readonly folder: string;

  /**
   * Copies Debian's essential packages, the packages of a `Depends` line, and all that these need.
   *
   * @param folder to be created
   * @throws Error for packages that this machine has not installed
   */
  constructor(folder: string, depends: string) {
    this.folder = folder;
    const names = closePackages(installedPackages(), parseDepends(depends));
    for (const name of ['proc', 'dev', 'tmp', 'var/lib/dpkg/info', 'var/log', HOME])
      mkdirSync(join(folder, name), { recursive: true });
    for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
      // The merged /usr, which no package holds.
      mkdirSync(join(folder, 'usr', name), { recursive: true });
      symlinkSync(`usr/${name}`, join(folder, name));
    }
    const files = execFileSync('dpkg-query', ['-L', ...names], { encoding: 'utf8', maxBuffer: 1 << 26 });
    const list = join(folder, 'tmp/files');
    writeFileSync(list, files.replaceAll(/^(package diverts|diverted by).*$/gm, ''));
    const pack = `tar -C / --no-recursion --ignore-failed-read -T "$1" -cf - 2> /dev/null`;
    const unpack = 'tar -C "$0" --keep-directory-symlink -xf - --exclude=./dev --exclude=./proc';
    execFileSync('sh', ['-c', `${pack} | ${unpack}`, folder, list]);
    this.#writeDpkgRecords(names);
    writeFileSync(join(folder, 'etc/passwd'), `root:x:0:0:root:${HOME}:/bin/sh\n`);
    writeFileSync(join(folder, 'etc/group'), 'root:x:0:\n');
    this.run(['ldconfig']);
  }

  #writeDpkgRecords(names: readonly string[]): void {
    const paragraphs = readFileSync('/var/lib/dpkg/status', 'utf8').split('\n\n');
    const kept = paragraphs.filter((one) => names.includes(/^Package: (.*)$/m.exec(one)?.[1] ?? ''));
    writeFileSync(join(this.folder, 'var/lib/dpkg/status'), `${kept.join('\n\n')}\n\n`);
    const records = names.flatMap((name) => globSync(`/var/lib/dpkg/info/${name}{,:*}.*`));
    execFileSync('cp', ['-a', ...records, join(this.folder, 'var/lib/dpkg/info/')]);
  }

  /** @returns what the command printed; throws Error with it when the command fails */
  run(words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('unshare', this.#words(words), this.#options());
    if (status !== 0) throw new Error(`${words.join(' ')}: ended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a command with pipes to it. */
  spawn(words: readonly string[]): ChildProcess {
    return spawn('unshare', this.#words(words), {
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

  #words(words: readonly string[]): string[] {
    const namespaces = ['--map-root-user', '--mount', '--pid', '--net', '--fork', '--kill-child'];
    return [...namespaces, 'sh', '-c', ENTER, this.folder, ...words];
  }

  #options(): { encoding: 'utf8'; env: NodeJS.ProcessEnv } {
    const path = '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin';
    return { encoding: 'utf8', env: { PATH: path, HOME, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' } };
  }
}

/** `a (>= 1) | b, c` as [['a', 'b'], ['c']]. */
function parseDepends(text: string): string[][] {
  const alternatives = text.split(',').map((part) => part.split('|'));
  const names = alternatives.map((some) => some.map((one) => one.trim().split(/[\s:(]/)[0]!).filter(Boolean));
  return names.filter((some) => some.length > 0);
}

/** By name, and by the names that a package provides. */
function installedPackages(): Map<string, Installed & { name: string }> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is dpkg-query's syntax.
  const fields = ['${Package}', '${Essential}', '${Pre-Depends}, ${Depends}', '${Provides}'].join('\\t');
  const lines = execFileSync('dpkg-query', ['-W', '-f', `${fields}\\n`], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const packages = new Map<string, Installed & { name: string }>();
  const provided: [string, Installed & { name: string }][] = [];
  for (const line of lines.trimEnd().split('\n')) {
    const [name = '', essential, depends = '', provides = ''] = line.split('\t');
    const one = { name, isEssential: essential === 'yes', depends: parseDepends(depends) };
    packages.set(name, one);
    for (const [other] of parseDepends(provides)) provided.push([other!, one]);
  }
  for (const [name, one] of provided) if (!packages.has(name)) packages.set(name, one);
  return packages;
}

/** The essential packages and `wanted`, with all that they depend on. */
function closePackages(all: ReturnType<typeof installedPackages>, wanted: string[][]): string[] {
  const names = new Set<string>();
  const missing: string[] = [];
  const essential = [...all.values()].filter(({ isEssential }) => isEssential).map(({ name }) => [name]);
  const queue = [...essential, ...wanted];
  for (const alternatives of queue) {
    const found = alternatives.map((name) => all.get(name)).find((one) => one !== undefined);
    if (!found) missing.push(alternatives.join(' or '));
    else if (!names.has(found.name)) {
      names.add(found.name);
      queue.push(...found.depends);
    }
  }
  if (missing.length > 0)
    throw new Error(`this machine has no ${missing.join(', ')}: apt-get install them first`);
  return [...names];
}
