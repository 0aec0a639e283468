import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERY_ORIGIN } from '@hopwise/contract';
import packet from 'dns-packet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHROMIUM_ARGUMENTS, HostProcess } from '../support/host-process.ts';
import { mayMount } from '../support/may-mount.ts';
import { connectHead, say } from './proxy/support/peers.ts';

const NAME_SERVER = '127.77.0.2';
const NAMES = Array.from({ length: 24 }, (_, index) => `host-${index}.many.test`);

let folder: string;
let resolver: Socket;
let host: HostProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-many-names-'));
});

afterAll(async () => {
  await host?.end();
  resolver?.close();
  rmSync(folder, { recursive: true });
});

/** Answers no question before every name has been asked for, and then that there is no such name. */
function answerTogether(asked: Set<string>): void {
  const waiting: { question: Buffer; from: RemoteInfo }[] = [];
  resolver.on('message', (question, from) => {
    for (const { name } of packet.decode(question).questions ?? []) asked.add(name);
    waiting.push({ question, from });
    if (asked.size < NAMES.length) return;
    for (const { question, from } of waiting.splice(0)) {
      const { id, questions = [] } = packet.decode(question);
      // RCODE 3: no such name (RFC 1035, section 4.1.1).
      const answer = packet.encode({
        type: 'response',
        id,
        flags: packet.RECURSION_AVAILABLE | 3,
        questions,
      });
      resolver.send(answer, from.port, from.address);
    }
  });
}

it.skipIf(!mayMount())('looks up the names of all hosts of a page at once', async () => {
  const asked = new Set<string>();
  resolver = createSocket('udp4');
  answerTogether(asked);
  resolver.bind(53, NAME_SERVER);
  await once(resolver, 'listening');
  const resolvConf = join(folder, 'resolv.conf');
  // The resolver must not ask again before a busy machine has asked for all.
  writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\noptions timeout:20 attempts:1\n`);
  host = new HostProcess({ XDG_STATE_HOME: join(folder, 'state') }, CHROMIUM_ARGUMENTS, 'ignore', [
    ...['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', resolvConf],
  ]);
  const pin = { type: 'pin', id: 'a', origin: EVERY_ORIGIN, kind: 'avoid-h3' } as const;
  const { port } = await host.askPins({ ...pin, minutes: null, persistent: false, allowLocal: false });
  await Promise.all(NAMES.map((name) => say(port, connectHead(`${name}:443`))));
  expect([...asked].sort()).toEqual([...NAMES].sort());
});
