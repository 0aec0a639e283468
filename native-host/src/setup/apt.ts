/** apt with folders of its own: downloads signed packages without root and without touching the machine's state. */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const APT_TIMEOUT_MS = 240_000;

/** The mirror of the machine's configured Debian source. @throws Error in one line when there is none */
async function mirror(suite: string): Promise<string> {
  const { stdout } = await run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)',
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

/**
 * Downloads `name` from `suite`-backports with every dependency that this machine lacks.
 *
 * @param folder an empty folder; apt's lists and cache stay in it.
 * @returns paths of the packages.
 * @throws Error in one line when apt or the keyring is missing, or apt fails.
 */
export async function downloadFromBackports(
  name: string,
  suite: string,
  folder: string,
  log: (line: string) => void,
): Promise<string[]> {
  await access(DEBIAN_KEYRING).catch(() => {
    throw new Error(`${DEBIAN_KEYRING} is missing: sudo apt install debian-archive-keyring`);
  });
  const uri = await mirror(suite);
  // As root, apt drops to a user of its own, who must be able to reach its folders.
  await chmod(folder, 0o755);
  const archives = join(folder, 'cache', 'archives');
  for (const part of [join(folder, 'lists', 'partial'), join(archives, 'partial'), join(folder, 'sources')]) {
    await mkdir(part, { recursive: true });
  }
  // The machine's proxies and timeouts count, its hooks, pins and sources do not.
  const { stdout: acquire } = await run('apt-config', ['dump', 'Acquire']);
  const configuration = join(folder, 'apt.conf');
  const settings = {
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(folder, 'sources'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': 'true',
    'Acquire::Languages': 'none',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowWeakRepositories': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";`);
  // It may hold a proxy's password, and the folder is open to all.
  await writeFile(configuration, `${acquire}\n${lines.join('\n')}\n`, { mode: 0o600 });

  const apt = async (suites: string[]): Promise<void> => {
    const source = [
      'Types: deb',
      `URIs: ${uri}`,
      `Suites: ${suites.join(' ')}`,
      'Components: main',
      `Signed-By: ${DEBIAN_KEYRING}`,
      '',
    ].join('\n');
    await writeFile(join(folder, 'sources', 'hopwise.sources'), source);
    const env = { ...process.env, APT_CONFIG: configuration, LC_ALL: 'C' };
    const options = { env, timeout: APT_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
    log(`reading the package lists of ${suites.join(', ')} from ${uri}`);
    await run('apt-get', ['-q', 'update'], options);
    log(`downloading ${name}`);
    const install = ['-q', '-y', '--download-only', '--no-install-recommends', '-t', `${suite}-backports`];
    await run('apt-get', [...install, 'install', '--reinstall', name], options);
  };
  try {
    // Half a megabyte of lists; enough where the library's usual dependencies are installed.
    await apt([`${suite}-backports`]);
  } catch {
    await apt([`${suite}-backports`, suite]).catch((fault: Error & { stderr?: string }) => {
      const words = (fault.stderr ?? '').split('\n').find((line) => line.startsWith('E:'));
      throw new Error(
        `apt could not download ${name}: ${words?.slice(2).trim() ?? fault.message.split('\n')[0]}`,
      );
    });
  }
  const names = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
  return names.map((file) => join(archives, file));
}
