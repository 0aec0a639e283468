import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import { launcherFile } from '../../../native-host/src/install/install.ts';

const COMMAND = fileURLToPath(new URL('../../../native-host/bin/hopwise-host.ts', import.meta.url));

/** To the host every name below `.test` is this machine's, as the browser's resolver rules have it. */
const NAMES = `
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  const { lookup } = dns.promises;
  dns.promises.lookup = async (host, options) =>
    host.endsWith('.test') ? [{ address: '127.0.0.1', family: 4 }] : lookup(host, options);
  syncBuiltinESMExports();
`;

/** The native host as a browser under test starts it, with folders of its own. */
export class TestHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'hopwise-pins-'));
  /** For the browser, whose native hosts inherit it. */
  readonly env = {
    XDG_STATE_HOME: join(this.folder, 'state'),
    XDG_CONFIG_HOME: join(this.folder, 'config'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NAMES)}`,
  };

  register(profile: string): void {
    execFileSync(process.execPath, ['--conditions=source', COMMAND, 'install', '--user-data-dir', profile]);
  }

  /** With the Firefox that has this home folder, and gets `env`. */
  registerInFirefox(home: string): void {
    execFileSync(process.execPath, ['--conditions=source', COMMAND, 'install', '--browser', 'firefox'], {
      env: { ...process.env, ...this.env, HOME: home },
    });
  }

  /** The same with the names below `.test` that libcurl has to find. */
  registerWithNames(profile: string, names: readonly string[]): void {
    this.register(profile);
    this.giveNames(launcherFile(profile), names);
  }

  /** In a mount namespace of its own, the host has another `/etc/hosts`. */
  giveNames(launcher: string, names: readonly string[]): void {
    const hosts = join(this.folder, 'hosts');
    writeFileSync(hosts, `127.0.0.1 ${names.join(' ')}\n`);
    const inner = `${launcher}.inner`;
    renameSync(launcher, inner);
    const within = `mount --bind "${hosts}" /etc/hosts && exec "${inner}" "$@"`;
    const text = `#!/bin/sh\nexec unshare --map-root-user --mount sh -c '${within}' sh "$@"\n`;
    writeFileSync(launcher, text, { mode: 0o755 });
  }

  /** Process ids of the hosts that the browser has started and that still run. */
  running(): number[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        const isHost =
          command.includes(`${COMMAND}\0chrome-extension://`) ||
          command.includes(`\0${FIREFOX_EXTENSION_ID}\0`);
        const isOurs = readFileSync(`/proc/${name}/environ`, 'utf8').includes(this.env.XDG_STATE_HOME);
        return isHost && isOurs ? [Number(name)] : [];
      } catch {
        // It has ended meanwhile, or belongs to somebody else.
        return [];
      }
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
