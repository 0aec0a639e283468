import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { Engine, EngineDiedError, NoEngineError } from '../../src/engine/engine.ts';
import type { RoundReport, RoundRequest, RoundTransfer } from '../../src/rounds/round.ts';
import { serveEngine } from '../support/engine.ts';
import { roundTransfer } from '../support/round-transfer.ts';
import { bundle, PROTO } from '../support/server.ts';
import { WatchedPort } from '../support/watched-port.ts';

const served = serveEngine();

const transfer = (path: string, protocol: Protocol, more: Partial<RoundTransfer> = {}): RoundTransfer =>
  roundTransfer({ url: served.server.url(path), host: `localhost:${served.server.port}`, protocol }, more);

function round(transfers: RoundTransfer[], more: Partial<RoundRequest> = {}): RoundRequest {
  return {
    transfers,
    userAgent: 'hopwise-test/1',
    maxBytes: 1e9,
    connectTimeoutMs: { h1: 5000, h2: 5000, h3: 5000 },
    totalTimeoutMs: 20_000,
    stallSeconds: 10,
    stopOn: [429, 503],
    pageFrom: 'loopback',
    ...more,
  };
}

/** Results by index. */
function byIndex(report: RoundReport): RoundReport['results'] {
  return [...report.results].sort((a, b) => a.index - b.index);
}

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('sends 60 concurrent requests on as many connections as a browser', async () => {
    const report = await served.engine.run(
      round(Array.from({ length: 60 }, (_, index) => transfer(`/bytes/20000/${index}?delay=5`, protocol))),
    );
    expect(report.ended).toBe('whole');
    expect(report.results.map(({ error }) => error).filter(Boolean)).toEqual([]);
    expect(
      report.results.filter((result) => result.protocol === protocol && result.status === 200),
    ).toHaveLength(60);
    const seen = await served.server.seen(60);
    expect(seen).toHaveLength(60);
    expect(new Set(seen.map(({ proto }) => proto))).toEqual(new Set([PROTO[protocol]]));
    const connections = new Set(seen.map(({ client }) => client)).size;
    expect(connections).toBe(protocol === 'h1' ? 6 : 1);
    expect(report.results.filter(({ newConnection }) => newConnection)).toHaveLength(connections);
    expect(report.bytes).toBeGreaterThanOrEqual(60 * 20_000);
    expect(report.bytes).toBe(report.results.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it('starts each round on fresh connections', async () => {
    for (let times = 0; times < 2; times += 1) {
      const report = await served.engine.run(round([transfer('/bytes/10', protocol)]));
      const [result] = report.results;
      expect(result!.newConnection).toBe(true);
      expect(result!.handshakeMs).toBeGreaterThan(0);
      expect(result!.firstByteMs).toBeGreaterThanOrEqual(result!.handshakeMs!);
      expect(result!.endMs).toBeGreaterThanOrEqual(result!.firstByteMs!);
    }
    expect(new Set((await served.server.seen(2)).map(({ client }) => client)).size).toBe(2);
  });

  it('keeps the order and the delays of the plan', async () => {
    const chain = Array.from({ length: 25 }, (_, index) =>
      transfer(`/bytes/100/${index}`, protocol, {
        after: index === 0 ? [] : [index - 1],
        delayMs: index % 5,
      }),
    );
    const medians: number[] = [];
    // Other work on the machine makes it later, never earlier.
    do {
      const results = byIndex(await served.engine.run(round(chain)));
      const late = results
        .slice(1)
        .map((result, index) => result.startMs - results[index]!.endMs - chain[index + 1]!.delayMs);
      expect(Math.min(...late)).toBeGreaterThanOrEqual(-0.001);
      medians.push(late.toSorted((a, b) => a - b)[late.length >> 1]!);
      const seen = await served.server.seen(25);
      expect(seen.map(({ path }) => path)).toEqual(chain.map(({ url }) => new URL(url).pathname));
    } while (medians.at(-1)! >= 1 && medians.length < 10);
    expect(Math.min(...medians)).toBeLessThan(1);
  });

  it('waits for all that an item waits for', async () => {
    const report = await served.engine.run(
      round([
        transfer('/bytes/10/a', protocol),
        transfer('/bytes/10/b?delay=80', protocol),
        transfer('/bytes/10/c', protocol, { after: [0, 1, 1] }),
      ]),
    );
    const [a, b, c] = byIndex(report);
    expect(a!.endMs).toBeLessThan(b!.endMs);
    expect(c!.startMs).toBeGreaterThanOrEqual(b!.endMs);
  });

  it('sends the header fields of a browser and no others', async () => {
    await served.engine.run(
      round([
        transfer('/bytes/10', protocol, {
          urgency: 1,
          incremental: true,
          accept: 'image/avif\r\nCookie: a=b',
        }),
        transfer('/bytes/10', protocol),
      ]),
    );
    const seen = await served.server.seen(2);
    const first = seen.find(({ accept }) => accept !== '*/*')!;
    const second = seen.find(({ accept }) => accept === '*/*')!;
    expect(first).toMatchObject({
      method: 'GET',
      agent: 'hopwise-test/1',
      encoding: 'gzip, deflate, br, zstd',
      cookie: '',
      accept: 'image/avif Cookie: a=b',
      priority: protocol === 'h1' ? '' : 'u=1, i',
    });
    expect(second.priority).toBe('');
  });

  it('sends no packet to an address that the page may not reach', async () => {
    const watched = await WatchedPort.listen();
    const connectTo = `::127.0.0.1:${watched.port}`;
    for (const pageFrom of ['local', 'public'] as const) {
      const report = await served.engine.run(
        round([transfer('/bytes/10', protocol, { connectTo })], { pageFrom }),
      );
      expect(report.results[0]).toMatchObject({
        status: 0,
        protocol: null,
        error: `127.0.0.1 is a loopback address, which a ${pageFrom} page may not reach`,
      });
    }
    expect(watched.arrivals).toBe(0);
    await watched.close();
  });

  it('reports a redirect and does not follow it', async () => {
    const report = await served.engine.run(round([transfer('/status/302', protocol)]));
    expect(report.results[0]).toMatchObject({ status: 302, protocol, error: '' });
    expect(await served.server.seen(1)).toHaveLength(1);
  });

  it('reports a response that breaks off, and continues with the rest', async () => {
    const report = await served.engine.run(
      round([transfer('/cut/100000', protocol), transfer('/bytes/10', protocol, { after: [0] })]),
    );
    const [cut, next] = byIndex(report);
    expect(cut!.error).not.toBe('');
    expect(cut!.bytes).toBeLessThan(100_000);
    expect(next).toMatchObject({ status: 200, error: '' });
    expect(report.ended).toBe('whole');
  });

  it('never exceeds its budget', async () => {
    const report = await served.engine.run(
      round([transfer('/trickle/200000', protocol), transfer('/trickle/200000', protocol)], {
        maxBytes: 50_000,
      }),
    );
    expect(report.ended).toBe('budget');
    expect(report.bytes).toBeLessThanOrEqual(50_000);
    expect(report.bytes).toBeGreaterThan(30_000);
  });

  it('does not begin a body that is announced as too large', async () => {
    const report = await served.engine.run(
      round([transfer('/bytes/5000000', protocol)], { maxBytes: 100_000 }),
    );
    expect(report.bytes).toBeLessThan(2_000);
    expect(report.results[0]!.error).not.toBe('');
  });

  it('stops when the server asks for fewer requests', async () => {
    const report = await served.engine.run(
      round([
        transfer('/status/429', protocol),
        ...Array.from({ length: 5 }, () => transfer('/bytes/10', protocol, { after: [0], delayMs: 20 })),
      ]),
    );
    expect(report.ended).toBe('stopped');
    expect(report.results).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    // The server's report of the request before may still come.
    const seen = await served.server.seen(1, (path) => ['/status/429', '/bytes/10'].includes(path));
    expect(seen.map(({ path }) => path)).toEqual(['/status/429']);
  });

  it('is cancelled at once', async () => {
    const cancel = new AbortController();
    const begin = performance.now();
    setTimeout(() => cancel.abort(), 100);
    const report = await served.engine.run(
      round(Array.from({ length: 20 }, () => transfer('/trickle/5000000', protocol))),
      { signal: cancel.signal },
    );
    expect(report.ended).toBe('cancelled');
    // The transfers themselves would take the whole time that a round has.
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  it('ends at the headers where only they are requested', async () => {
    const report = await served.engine.run(
      round([transfer('/bytes/5000000', protocol, { headersOnly: true })]),
    );
    expect(report.results[0]).toMatchObject({
      status: 200,
      protocol,
      error: '',
      altSvc: `h3=":${served.server.port}"; ma=60`,
    });
    expect(report.bytes).toBeLessThan(300_000);
  });

  it('refuses a certificate that no trusted CA has signed', async () => {
    const other = await served.program.start();
    const report = await served.engine.run(
      round([transfer('/', protocol, { url: other.url('/bytes/10'), host: `localhost:${other.port}` })]),
    );
    expect(report.results[0]).toMatchObject({ status: 0, protocol: null });
    expect(report.results[0]!.error).not.toBe('');
    expect(await other.seen()).toEqual([]);
    await other.stop();
  });

  it('sends queued requests in order of urgency', async () => {
    const places = protocol === 'h1' ? 6 : 100;
    // The later ones are there before the first place is free; HTTP/1.1's become free one by one.
    const first = Array.from({ length: places }, (_, index) =>
      transfer(`/bytes/10/first${index}?delay=${300 + (protocol === 'h1' ? 100 * index : 0)}`, protocol),
    );
    const later = [5, 1, 3].map((urgency) =>
      transfer(`/bytes/10/u${urgency}`, protocol, { urgency, delayMs: 5 }),
    );
    const report = await served.engine.run(round([...first, ...later]));
    const begun = report.results
      .filter(({ index }) => index >= places)
      .map(({ index }) => later[index - places]!.urgency);
    if (protocol === 'h1') expect(begun[0]).toBe(1);
    const paths = (await served.server.seen(places + 3))
      .map(({ path }) => path)
      .filter((path) => /u\d$/.test(path));
    if (protocol === 'h1') expect(paths).toEqual(['/bytes/10/u1', '/bytes/10/u3', '/bytes/10/u5']);
    else expect(new Set(paths).size).toBe(3);
  });
});

it('does nothing when the signal is already aborted', async () => {
  const report = await served.engine.run(round([transfer('/bytes/10', 'h2')]), {
    signal: AbortSignal.abort(),
  });
  expect(report).toMatchObject({ ended: 'cancelled', results: [], bytes: 0 });
  expect(await served.server.seen()).toEqual([]);
});

it('completes a long chain of transfers that fail without an attempt', async () => {
  const chain = Array.from({ length: 5000 }, (_, index) =>
    transfer('/bytes/10', 'h2', { after: index === 0 ? [] : [index - 1], refused: 'down' }),
  );
  const report = await served.engine.run(round(chain));
  expect(report).toMatchObject({ ended: 'whole', bytes: 0 });
  expect(report.results).toHaveLength(5000);
});

it('opens no more connections at once than a browser, whatever the number of origins', async () => {
  let open = 0;
  const silent = createServer((socket) => {
    open += 1;
    socket.on('error', () => {}).resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const cancel = new AbortController();
  const origins = Array.from({ length: 600 }, (_, index) => `${index}.localhost:${port}`);
  const running = served.engine.run(
    round(
      origins.map((host) => transfer('/', 'h2', { url: `https://${host}/`, host })),
      // None of them may time out and free its slot.
      { connectTimeoutMs: { h1: 60_000, h2: 60_000, h3: 60_000 }, totalTimeoutMs: 60_000 },
    ),
    { signal: cancel.signal },
  );
  await expect.poll(() => open, { timeout: 40_000 }).toBeGreaterThan(200);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  cancel.abort();
  await running;
  silent.close();
  expect(open).toBeLessThanOrEqual(256);
});

it('opens no second connection for more requests than one allows', async () => {
  for (const protocol of ['h2', 'h3'] as const) {
    const query = `?delay=5&more-than-one-allows-${protocol}`;
    const report = await served.engine.run(
      round(Array.from({ length: 150 }, (_, index) => transfer(`/bytes/100/${index}${query}`, protocol))),
    );
    expect(report.results.filter((result) => result.protocol === protocol)).toHaveLength(150);
    // The server may tell of earlier tests' requests late.
    const own = await served.server.seen(150, (path) => path.endsWith(query));
    expect([...new Set(own.map(({ client }) => client))], protocol).toHaveLength(1);
  }
});

it('reports figures of each TCP connection, and none of QUIC connections', async () => {
  const other = await served.program.start();
  process.env.HOPWISE_CA_FILE = join(served.program.folder, 'both.pem');
  writeFileSync(process.env.HOPWISE_CA_FILE, bundle([served.server, other]));
  const host = `localhost:${other.port}`;
  const own = new Engine();
  const report = await own.run(
    round([
      transfer('/bytes/200000', 'h2'),
      transfer('/bytes/10', 'h2', { url: other.url('/bytes/10'), host }),
      transfer('/bytes/200000', 'h3'),
    ]),
  );
  await own.close();
  await other.stop();
  process.env.HOPWISE_CA_FILE = served.server.caFile;
  const [large, small] = report.connections.toSorted((a, b) => b.bytesIn - a.bytesIn);
  expect(report.connections).toHaveLength(2);
  expect([large!.host, small!.host]).toEqual([`localhost:${served.server.port}`, host]);
  // TLS adds to the body; 200 kB come in loopback segments of at most 64 KiB.
  expect(large!.bytesIn).toBeGreaterThan(200_000);
  expect(large!.dataSegmentsIn).toBeGreaterThanOrEqual(3);
  expect(small!.bytesIn).toBeLessThan(20_000);
  for (const { minRttMs, rttMs, dataSegmentsOut, lossEvents, retransmitted } of report.connections) {
    expect(minRttMs).toBeGreaterThan(0);
    expect(rttMs!).toBeGreaterThanOrEqual(minRttMs!);
    // A ClientHello, a Finished and a request at least, in one segment or several.
    expect(dataSegmentsOut).toBeGreaterThanOrEqual(2);
    // Nothing is lost on loopback, but where the machine is busy the kernel probes for a tail that is late (RFC 8985, section 7).
    expect(lossEvents).toBe(0);
    expect(retransmitted).toBeLessThan(dataSegmentsOut);
  }
});

it('ends a response that is longer than it may be, announced or not, and nothing else', async () => {
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const report = await served.engine.run(
      round([
        transfer('/bytes/500000/announced', protocol, { maxBytes: 100_000 }),
        transfer('/trickle/500000', protocol, { maxBytes: 20_000 }),
        transfer('/bytes/50000', protocol, { maxBytes: 100_000 }),
      ]),
    );
    const errors = report.results.toSorted((a, b) => a.index - b.index).map(({ error }) => error);
    expect(errors[0]).toContain('more than 100000 bytes are announced');
    expect(errors[1]).toContain('more than 20000 bytes arrived');
    expect(errors[2]).toBe('');
    expect(report.bytes).toBeLessThan(200_000);
  }
});

it('goes only where https goes', async () => {
  const report = await served.engine.run(
    round([
      transfer('/', 'h1', { url: 'file:///etc/passwd' }),
      transfer('/', 'h1', { url: 'http://localhost/' }),
    ]),
  );
  for (const result of report.results) expect(result).toMatchObject({ status: 0, bytes: 0, protocol: null });
  expect(report.results.every(({ error }) => error !== '')).toBe(true);
});

describe('the process', () => {
  let own: Engine;
  afterEach(() => own.close());

  it('may crash: the round fails, and the next one gets a new process', async () => {
    own = new Engine();
    await own.start();
    const pid = (await own.pid())!;
    const lost = own.run(round([transfer('/trickle/5000000', 'h2')]));
    lost.catch(() => undefined);
    await served.server.seen(1);
    process.kill(pid, 'SIGKILL');
    await expect(lost).rejects.toThrow(EngineDiedError);
    await expect(lost).rejects.toThrow('was ended by SIGKILL');
    const report = await own.run(round([transfer('/bytes/10', 'h2')]));
    expect(report.results[0]!.status).toBe(200);
    expect(await own.pid()).not.toBe(pid);
  });

  it('has ended after close', async () => {
    own = new Engine();
    await own.start();
    const pid = (await own.pid())!;
    await own.close();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  it.each([
    ['a file that is no library', () => '/etc/passwd'],
    ['a library that is no libcurl', () => 'libc.so.6'],
    ['a path that does not exist', () => join(served.program.folder, 'nothing.so')],
    [
      'a file that cannot be read as one',
      () => {
        const path = join(served.program.folder, 'empty.so');
        writeFileSync(path, '');
        return path;
      },
    ],
  ])('refuses %s in one line', async (_name, path) => {
    own = new Engine({ libcurl: path() });
    const starting = own.start();
    await expect(starting).rejects.toThrow(NoEngineError);
    await expect(starting).rejects.toThrow(path());
    await starting.catch((fault: Error) => expect(fault.message).not.toContain('\n'));
  });

  it('says which CA file is missing', async () => {
    const former = process.env.HOPWISE_CA_FILE;
    process.env.HOPWISE_CA_FILE = '/nowhere/ca.pem';
    own = new Engine();
    await expect(own.start()).rejects.toThrow('HOPWISE_CA_FILE: no such file: /nowhere/ca.pem');
    process.env.HOPWISE_CA_FILE = former;
  });
});
