import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserProgram } from '../browser/browser-program.ts';
import type { Lab } from '../client/lab.ts';
import { UserError } from '../command/errors.ts';

/** Built, or as source under a test. */
const NAME_SERVER = fileURLToPath(new URL(`name-server-main${extname(import.meta.url)}`, import.meta.url));

export interface RecordBrowser {
  /** Script that starts Chromium. */
  executablePath: string;
  stop(): void;
}

/**
 * Prepares a Chromium that resolves the lab's hosts by DNS rather than by the hosts file, where every host has an HTTPS record that
 * offers HTTP/3. The name server is on the browser's side of the link: a lookup takes no time on it, as with hosts files.
 *
 * @param dir folder for its files
 * @throws UserError when the name server does not start
 */
export async function prepareRecordBrowser(lab: Lab, dir: string): Promise<RecordBrowser> {
  await mkdir(dir, { recursive: true });
  const hosts = join(dir, 'hosts');
  const resolver = join(dir, 'resolv.conf');
  await writeFile(hosts, '127.0.0.1 localhost\n');
  await writeFile(resolver, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  const addresses = lab.origins.map(({ origin, address }) => [new URL(origin).hostname, address]);
  const [program, ...args] = lab.enterCommand([
    process.execPath,
    NAME_SERVER,
    JSON.stringify(Object.fromEntries(addresses)),
  ]);
  const server = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answered = await Promise.race([once(server.stdout, 'data'), once(server, 'exit').then(() => null)]);
  if (answered === null) throw new UserError("the lab's name server did not start");
  const script = join(dir, 'chromium-by-dns');
  // A mount namespace of its own: the lab's other programs keep the hosts file.
  const mounts = `mount --bind ${hosts} /etc/hosts && mount --bind ${resolver} /etc/resolv.conf`;
  await writeFile(
    script,
    `#!/bin/sh\nexec unshare -m sh -c '${mounts} && exec ${browserProgram('full')} "$@"' sh "$@"\n`,
  );
  await chmod(script, 0o700);
  return { executablePath: await lab.wrapper(script), stop: () => server.stdin.end() };
}
