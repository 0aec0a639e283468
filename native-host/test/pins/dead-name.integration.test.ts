import { execFile } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mayMount } from '../support/may-mount.ts';

const PROGRAM = fileURLToPath(new URL('../support/dead-name.ts', import.meta.url));
const NAME_SERVER = '127.77.0.1';

let folder: string;
let silent: Socket;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-dead-name-'));
});

afterAll(() => {
  silent?.close();
  rmSync(folder, { recursive: true });
});

it.skipIf(!mayMount())('does not wait for a name that no resolver answers', async () => {
  silent = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    silent.once('error', reject).bind(53, NAME_SERVER, resolve);
  });
  const resolvConf = join(folder, 'resolv.conf');
  writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\n`);
  const { stdout } = await promisify(execFile)('unshare', [
    '--mount',
    'sh',
    '-c',
    'mount --bind "$1" /etc/resolv.conf && exec "$2" --conditions=source "$3"',
    'sh',
    resolvConf,
    process.execPath,
    PROGRAM,
  ]);
  const { ended, ms } = JSON.parse(stdout) as { ended: string; ms: number };
  expect(ended).toBe('cancelled');
  // The resolver itself gives up after 10 s.
  expect(ms).toBeLessThan(8000);
});
