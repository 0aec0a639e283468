import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import { install, launcherFile } from '../../../native-host/src/install/install.ts';

const COMMAND = fileURLToPath(new URL('../../../native-host/bin/hopwise-host.ts', import.meta.url));

/** A public address by the host's rules. The host connects to this machine instead, and never to the address. */
const PUBLIC_ADDRESS = '192.0.0.9';

/**
 * The host resolves every name below `.test` to this machine, like the browser's resolver rules: those that begin with `public-` to an
 * address that looks public.
 */
const NAMES = `
  import dns from 'node:dns';
  import net from 'node:net';
  import { syncBuiltinESMExports } from 'node:module';
  const { lookup } = dns.promises;
  const { connect } = net;
  const addressOf = (host) => (host.startsWith('public-') ? '${PUBLIC_ADDRESS}' : '127.0.0.1');
  dns.promises.lookup = async (host, options) =>
    host.endsWith('.test') ? [{ address: addressOf(host), family: 4 }] : lookup(host, options);
  net.connect = (to, ...more) => connect(to.host === '${PUBLIC_ADDRESS}' ? { ...to, host: '127.0.0.1' } : to, ...more);
  syncBuiltinESMExports();
`;

/** The native host as started by a browser under test, with its own folders. */
export class TestHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'hopwise-pins-'));
  /** Environment for the browser, which its native hosts inherit. */
  readonly env = {
    XDG_STATE_HOME: join(this.folder, 'state'),
    XDG_CONFIG_HOME: join(this.folder, 'config'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NAMES)}`,
  };

  async register(profile: string): Promise<void> {
    await install({
      ids: { chromium: EXTENSION_ID, firefox: FIREFOX_EXTENSION_ID },
      script: COMMAND,
      nodeArguments: ['--conditions=source'],
      userDataDirectory: profile,
    });
  }

  /** Registers with the Firefox that has this home folder; the host gets `env`. */
  registerInFirefox(home: string): void {
    execFileSync(process.execPath, ['--conditions=source', COMMAND, 'install', '--browser', 'firefox'], {
      env: { ...process.env, ...this.env, HOME: home },
    });
  }

  /** The same, with the names below `.test` that libcurl has to resolve. */
  async registerWithNames(profile: string, names: readonly string[]): Promise<void> {
    await this.register(profile);
    this.giveNames(launcherFile(profile), names);
  }

  /** The host runs in its own mount namespace with another `/etc/hosts`. */
  giveNames(launcher: string, names: readonly string[]): void {
    const hosts = join(this.folder, 'hosts');
    writeFileSync(hosts, `127.0.0.1 ${names.join(' ')}\n`);
    const inner = `${launcher}.inner`;
    renameSync(launcher, inner);
    const within = `mount --bind "${hosts}" /etc/hosts && exec "${inner}" "$@"`;
    const text = `#!/bin/sh\nexec unshare --map-root-user --mount sh -c '${within}' sh "$@"\n`;
    writeFileSync(launcher, text, { mode: 0o755 });
  }

  /** Process ids of the running hosts that the browser has started. */
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
        // It has ended in the meantime, or belongs to another user.
        return [];
      }
    });
  }

  /** Process ids of the engines that the running hosts have started. */
  engines(): number[] {
    return this.running().flatMap((pid) => {
      try {
        return (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number);
      } catch {
        // The host has ended in the meantime.
        return [];
      }
    });
  }

  /** Ports of 127.0.0.1 on which the running hosts listen. */
  listeningPorts(): number[] {
    const LISTENING = '0A';
    return this.running().flatMap((pid) => {
      const descriptors = `/proc/${pid}/fd`;
      const own = new Set(
        readdirSync(descriptors).map((name) => {
          try {
            return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(descriptors, name)))?.[1];
          } catch {
            // It was closed in the meantime.
            return undefined;
          }
        }),
      );
      const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
      return lines.flatMap((line) => {
        const fields = line.trim().split(/\s+/);
        const [, local = '', , state] = fields;
        return state === LISTENING && own.has(fields[9]) ? [Number.parseInt(local.split(':')[1]!, 16)] : [];
      });
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
