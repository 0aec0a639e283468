/** Folders with a bare Debian, from its archive, and how commands are run in them. All of it takes root. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, ROOT, runLogged } from '../setup/programs.mjs';
import { type AptSource, readAptSettings, readDebianSources } from './registries.ts';

const RELEASE = 'bookworm';
const CACHE = join(ROOT, '.cache', 'fresh');

/**
 * Unpacks Debian's essential packages, apt and `packages` with all that these need into an empty folder. A tar archive of them
 * stays in `.cache/fresh/`.
 *
 * @param log is called with what programs print
 * @throws Error or SetupError in a few lines
 */
export async function unpackDebian(
  folder: string,
  packages: readonly string[],
  log: (text: string) => void,
): Promise<void> {
  const sources = readDebianSources(RELEASE);
  // apt fetches from https with certificates alone, as on each machine that has such sources.
  const certificates = sources.some(({ uri }) => uri.startsWith('https:')) ? ['ca-certificates'] : [];
  const archive = await ensureArchive(sourcesFile(sources), [...packages, ...certificates], log);
  execFileSync('tar', ['-xf', archive, '-C', folder, '--numeric-owner']);
  writeFileSync(join(folder, 'etc/apt/apt.conf.d/90acquire'), `${readAptSettings()}\n`);
}

/** The sources as sources.list(5) has them. */
const sourcesFile = (sources: readonly AptSource[]): string =>
  sources.map(({ uri, suite }) => `deb ${uri} ${suite} main\n`).join('');

/** @returns the path of the archive, which is kept by what it was made from */
async function ensureArchive(
  sources: string,
  packages: readonly string[],
  log: (text: string) => void,
): Promise<string> {
  // The folders are deleted soon: dpkg need not wait for the disk.
  const options = ['--mode=root', '--variant=minbase', '--format=tar', '--dpkgopt=force-unsafe-io'];
  const words = [...options, ...packages.map((name) => `--include=${name}`)];
  const key = createHash('sha256').update(JSON.stringify([sources, words]));
  const archive = join(CACHE, `${RELEASE}-${key.digest('hex').slice(0, 12)}.tar`);
  if (existsSync(archive)) return archive;
  // What a run that was killed has left of it goes.
  const work = `${archive}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    const settings = join(work, 'apt.conf');
    const list = join(work, 'sources.list');
    const partial = join(work, 'root.tar');
    writeFileSync(settings, readAptSettings());
    writeFileSync(list, sources);
    log("making a bare root from Debian's packages\n");
    const last = [`--aptopt=${settings}`, RELEASE, partial, list];
    // Asked to end, it removes what it has mounted and unpacked.
    const program = ['--pdeathsig', 'TERM', ...findMmdebstrap(work)];
    await runLogged('setpriv', [...program, ...words, ...last], { log });
    renameSync(partial, archive);
    return archive;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** mmdebstrap of this machine, else Debian's, unpacked below `work`: a Perl script that needs apt alone. */
function findMmdebstrap(work: string): string[] {
  const installed = findOnPath('mmdebstrap');
  if (installed) return [installed];
  execFileSync('apt-get', ['-q', 'download', 'mmdebstrap'], { cwd: work, stdio: 'ignore' });
  execFileSync('sh', ['-c', 'dpkg-deb -x mmdebstrap_*.deb mmdebstrap'], { cwd: work });
  return ['perl', join(work, 'mmdebstrap/usr/bin/mmdebstrap')];
}

/**
 * Makes the folder `$0` the root and runs `$@` there. It uses pivot_root(2), as no user namespace can be made below a
 * chroot, which browsers' sandboxes and the lab do. The devices are those that every Debian machine has, with udev's modes.
 */
const ENTER = `set -e
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/net
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for i in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${i%%:*}" "dev/\${i#*:}"; done
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mknod -m 666 dev/net/tun c 10 200
hostname bare
pivot_root . mnt
cd /
umount -l /mnt
set +e
"$@"
# The shell stays, as the first process: it reaps those that lose their parents.
exit $?`;

/**
 * Words that run a command in namespaces of files, processes and messages of its own, with `folder` as its root. All that it
 * starts ends with it, and with the process that starts it.
 */
export function wordsToEnter(folder: string, { hasNetwork }: { hasNetwork: boolean }): string[] {
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', ...(hasNetwork ? [] : ['--net'])];
  const bound = ['setpriv', '--pdeathsig', 'KILL', 'unshare', ...namespaces, '--fork', '--kill-child'];
  return [...bound, 'sh', '-c', ENTER, folder];
}
