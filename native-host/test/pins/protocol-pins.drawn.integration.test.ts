/** Pins to a protocol with a real host: by message and by the command line, from the local CA to the server's own log. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type PinKind, PROTOCOLS } from '@hopwise/contract';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { hopwiseHostAsync } from '../support/command.ts';
import { HostProcess, type PinsMessage } from '../support/host-process.ts';
import { privateLibcurl } from '../support/private-libcurl.ts';
import { serveProgram } from '../support/serve-program.ts';
import { PROTO } from '../support/server.ts';
import { openTunnel } from './proxy/support/peers.ts';
import { ask2, isTerminated } from './terminating/support/pinned.ts';
import { showTrust } from './terminating/support/show-trust.ts';

const served = serveProgram();
let libcurl: string;
let home: string;
let host: HostProcess;

beforeAll(async () => {
  libcurl = await privateLibcurl();
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-protocol-pins-'));
  host = new HostProcess({
    XDG_STATE_HOME: join(home, 'state'),
    XDG_DATA_HOME: join(home, 'data'),
    HOPWISE_CA_FILE: served.server.caFile,
    HOPWISE_LIBCURL: libcurl,
  });
});

afterEach(async () => {
  await host.end();
  rmSync(home, { recursive: true });
});

const origin = (): string => `https://localhost:${served.server.port}`;
const run = (...words: string[]): ReturnType<typeof hopwiseHostAsync> => hopwiseHostAsync(home, words);

/** The answer to a message; unsolicited messages before it are skipped. */
async function ask(message: Parameters<HostProcess['askPins']>[0]): Promise<PinsMessage> {
  host.send(message);
  for (;;) {
    const answer = await host.nextPins();
    if (answer.id === message.id) return answer;
  }
}

function pin(id: string, kind: PinKind): Promise<PinsMessage> {
  return ask({ type: 'pin', id, origin: origin(), kind, minutes: null, persistent: false, allowLocal: true });
}

/** The message after which no pin waits any more. */
async function untilSettled(state: PinsMessage): Promise<PinsMessage> {
  let last = state;
  while (last.pins[0]?.state === 'waiting') last = await host.nextPins();
  return last;
}

it('needs a local CA, and says so in one line', async () => {
  host.send({
    type: 'pin',
    id: 'a',
    origin: origin(),
    kind: 'h2',
    minutes: null,
    persistent: false,
    allowLocal: true,
  });
  expect(await host.next()).toMatchObject({
    type: 'error',
    code: 'unavailable',
    message: expect.stringMatching(
      /^there is no local CA for localhost: \/.* ca create https:\/\/localhost$/,
    ),
  });
  expect((await ask({ type: 'pins', id: 'b' })).caHosts).toEqual([]);
});

it('carries requests under each protocol, from the browser to the origin and back', async () => {
  const made = JSON.parse((await run('ca', 'create', origin(), '--json')).out) as { root: string };
  const root = readFileSync(made.root, 'utf8');
  await served.server.seen();
  for (const protocol of PROTOCOLS) {
    const waiting = await pin(protocol, protocol);
    expect(waiting).toMatchObject({
      caHosts: ['localhost'],
      // The browser has to show trust only once.
      trials: protocol === 'h1' ? ['localhost'] : [],
      pins: [{ kind: protocol, state: 'waiting' }],
    });
    if (protocol === 'h1') {
      expect(await showTrust(waiting.port, 'localhost', waiting.trialToken, root)).toBe(true);
    }
    const { pins, port } = await untilSettled(waiting);
    expect(pins).toMatchObject([{ kind: protocol, state: 'active', reason: '' }]);
    const tunnel = await openTunnel(port, `localhost:${served.server.port}`);
    const socket = connect({ socket: tunnel, servername: 'localhost', ca: root, ALPNProtocols: ['h2'] });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    expect(isTerminated(socket)).toBe(true);
    const session = connectHttp2(origin(), { createConnection: () => socket });
    expect((await ask2(session, { ':path': `/hello?${protocol}` })).status).toBe(200);
    session.close();
    // Checks of the origin come to it as well.
    const seen = await served.server.seen(1, (path) => path === `/hello?${protocol}`);
    expect(seen).toMatchObject([{ proto: PROTO[protocol] }]);
  }
});

it('sends each request of an auto pin under the protocol last steered to, and says what the requests have shown', async () => {
  const made = JSON.parse((await run('ca', 'create', origin(), '--json')).out) as { root: string };
  const root = readFileSync(made.root, 'utf8');
  const waiting = await pin('auto', 'auto');
  expect(await showTrust(waiting.port, 'localhost', waiting.trialToken, root)).toBe(true);
  const { pins, port } = await untilSettled(waiting);
  expect(pins).toMatchObject([{ kind: 'auto', state: 'active', protocol: 'h2' }]);
  const tunnel = await openTunnel(port, `localhost:${served.server.port}`);
  const socket = connect({ socket: tunnel, servername: 'localhost', ca: root, ALPNProtocols: ['h2'] });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const session = connectHttp2(origin(), { createConnection: () => socket });
  await served.server.seen();
  expect((await ask2(session, { ':path': '/bytes/1000' })).status).toBe(200);
  const steered = await ask({ type: 'steer', id: 'steer', origin: origin(), protocol: 'h3' });
  expect(steered.pins).toMatchObject([{ kind: 'auto', protocol: 'h3' }]);
  expect((await ask2(session, { ':path': '/bytes/2000' })).status).toBe(200);
  session.close();
  const seen = (await served.server.seen(1)).filter(({ path }) => path.startsWith('/bytes'));
  expect(seen.map(({ proto }) => proto)).toEqual([PROTO.h2, PROTO.h3]);
  const shown = await host.nextExchanges(2);
  expect(shown.map(({ protocol, bodyBytes }) => [protocol, bodyBytes])).toEqual([
    ['h2', 1000],
    ['h3', 2000],
  ]);
});
