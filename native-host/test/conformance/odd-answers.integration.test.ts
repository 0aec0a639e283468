/** What browsers accept of an origin and the helper does not pass on: the pin ends with the first such answer, and the browser asks by itself. */
import { gzipSync } from 'node:zlib';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask1, ask2 } from '../pins/terminating/support/pinned.ts';
import { MIB, RIGHT } from './support/cases.ts';
import { VERSIONS, type Version } from './support/hostile-browser.ts';
import { HostileTcpOrigin } from './support/hostile-tcp-origin.ts';
import { servePinned } from './support/serve-pinned.ts';

const REFUSED_STREAM = 7;
/** Below and above what libcurl takes of one header line, and what it takes over HTTP/2. */
const LARGE_BYTES = [50_000, 200_000];

const served = servePinned();

type Outcome = Answer | 'given back' | 'failed';

/** What becomes of a request of a browser over an HTTP version. */
async function ask(version: Version, port: number, path: string, method = 'GET'): Promise<Outcome> {
  const { pinned } = served;
  if (version === 'h2') {
    const session = await pinned.http2(port);
    const answer = await ask2(session, { ':path': path, ':method': method }).catch(
      ({ rstCode }): Outcome => (rstCode === REFUSED_STREAM ? 'given back' : 'failed'),
    );
    session.destroy();
    return answer;
  }
  const socket = await pinned.connect(port, 'http/1.1');
  const options = { path, method, headers: { host: `localhost:${port}` }, maxHeaderSize: MIB };
  const answer = await ask1(socket, options).catch((): Outcome => 'failed');
  socket.destroy();
  return typeof answer === 'object' && answer.status === 421 ? 'given back' : answer;
}

/** The pin has been lifted: the browser's next connection leads to the origin itself. */
function expectDirect(port: number): void {
  const { pinned } = served;
  expect(pinned.lifted.map((lifted) => lifted.port)).toContain(port);
  expect(pinned.terminating.routeConnect('localhost', port).kind).toBe('tunnel');
}

describe('over HTTP/1.1', () => {
  const compressed = gzipSync(RIGHT);
  const ok = `HTTP/1.1 200 OK\nContent-Length: ${RIGHT.length}`;
  const answers: Record<string, Buffer[]> = {
    'with a status of 999': answerOf(`HTTP/1.1 999 Odd\nContent-Length: ${RIGHT.length}`),
    'with a space in the name of a field': answerOf(`${ok}\nX Odd: a`),
    'with a bare CR': answerOf(`${ok}\nX-Odd: a\rb`),
    'with a control character': answerOf(`${ok}\nX-Odd: a\u0001b`),
    'with a line without a colon': answerOf(`${ok}\nX-Odd`),
    'with a header line of 200 kB': answerOf(`${ok}\nX-Odd: ${'a'.repeat(200_000)}`),
    'with header lines of 200 kB in all': answerOf(
      `${ok}\n${`X-Odd: ${'a'.repeat(4_000)}\n`.repeat(50)}X-End: a`,
    ),
    'in the coding gzip, chunked': [
      ...answerOf('HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked', ''),
      Buffer.from(`${compressed.length.toString(16)}\r\n`),
      compressed,
      Buffer.from('\r\n0\r\n\r\n'),
    ],
  };
  let origin: HostileTcpOrigin;

  beforeAll(async () => {
    origin = await HostileTcpOrigin.listen(served.pinned.origins, 'h1');
  });

  afterAll(() => origin.close());

  async function show(name: string): Promise<void> {
    origin.show(null);
    served.pinned.lifted.length = 0;
    await served.pinned.pin(origin.port, 'h1');
    origin.show({ pieces: answers[name]!, after: 'keep' });
  }

  describe.each(Object.keys(answers))('an answer %s', (name) => {
    it.each(VERSIONS)('reaches a browser that speaks %s, or ends the pin', async (version) => {
      await show(name);
      const outcome = await ask(version, origin.port, '/');
      if (typeof outcome === 'object') expect(outcome.body.toString()).toBe(RIGHT);
      else {
        expect(outcome).toBe('given back');
        expectDirect(origin.port);
      }
    });

    it.each(VERSIONS)('to a POST is not asked for again over %s', async (version) => {
      await show(name);
      const outcome = await ask(version, origin.port, '/', 'POST');
      if (typeof outcome === 'object') expect(outcome.body.toString()).toBe(RIGHT);
      else {
        expect(outcome).toBe('failed');
        expectDirect(origin.port);
      }
    });
  });
});

describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
  describe.each(LARGE_BYTES)('an answer with a field of %i bytes', (bytes) => {
    it.each(VERSIONS)('reaches a browser that speaks %s, or ends the pin', async (version) => {
      const { pinned, server } = served;
      pinned.lifted.length = 0;
      await pinned.pin(server.port, protocol);
      const outcome = await ask(version, server.port, `/large/${bytes}`);
      if (typeof outcome === 'object') {
        expect(outcome.body.toString()).toBe('large');
        const [, value] = outcome.headers.find(([name]) => /^x-large$/i.test(name))!;
        expect(value).toHaveLength(bytes);
      } else {
        expect(outcome).toBe('given back');
        expectDirect(server.port);
      }
    });
  });
});

function answerOf(head: string, body = RIGHT): Buffer[] {
  return [Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`, 'latin1')];
}
