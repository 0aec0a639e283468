import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ExchangeError } from '../../../src/exchange/exchange.ts';
import type { BrowserRequest } from '../../../src/pins/terminating/browser-request.ts';
import { Relay, type Upstream } from '../../../src/pins/terminating/relay.ts';
import { FakeEngine, settled } from './support/fake-engine.ts';

/** A browser's request that notes what becomes of it. */
class NotedRequest implements BrowserRequest {
  readonly method: string;
  readonly authority = 'a.test';
  readonly target = '/';
  readonly headers = [];
  readonly body: Readable | null;
  readonly notes: string[] = [];
  onGone = (): void => {};
  onDrain = (): void => {};

  constructor(method: string, body: Readable | null = null) {
    this.method = method;
    this.body = body;
  }

  informational(status: number): void {
    this.notes.push(`informational ${status}`);
  }

  head(status: number, _fields: unknown, first: Buffer | null): boolean {
    this.notes.push(first ? `head ${status} and ${first}` : `head ${status}`);
    return true;
  }

  answer(status: number, _fields: unknown, body: Buffer | null): void {
    this.notes.push(`answer ${status} of ${body}`);
  }

  write(chunk: Buffer): boolean {
    this.notes.push(`write ${chunk}`);
    return true;
  }

  end(): void {
    this.notes.push('end');
  }

  refuse(): void {
    this.notes.push('refuse');
  }

  fail(): void {
    this.notes.push('fail');
  }
}

let engine: FakeEngine;
let events: string[];
let upstream: Upstream;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  engine = new FakeEngine();
  events = [];
  upstream = {
    events: {
      onAnswered: (protocol) => events.push(`answered ${protocol}`),
      onOtherAnswered: (protocol, { code }) => events.push(`answered instead of ${protocol}: ${code}`),
      onFailed: (protocol, { code }) => events.push(`failed ${protocol} ${code}`),
      onOvertaken: (protocol, by) => events.push(`${by} has overtaken ${protocol}`),
      onLate: () => events.push('late'),
      onSuspect: () => events.push('suspect'),
      onMeasured: () => events.push('measured'),
      onUnforwardable: (_protocol, reason) => events.push(`unpassable ${reason}`),
    },
    isMeasured: false,
    partition: '',
    exchange: (request, target) => engine.exchange({ ...request, url: `https://a.test${target}` }),
    removeRelay: () => events.push('done'),
  };
});

afterEach(() => {
  vi.useRealTimers();
});

function begin(request: NotedRequest): Relay {
  const relay = new Relay(request, upstream, 'h3');
  relay.start();
  return relay;
}

it('uses another protocol at once, and reports failures under the pinned one only', async () => {
  const request = new NotedRequest('POST');
  begin(request);
  engine.last.fail('connect');
  await settled();
  expect(engine.last.request.protocol).toBe('h2');
  engine.last.fail('protocol');
  await settled();
  expect(engine.last.request.protocol).toBe('h1');
  engine.last.answer(201);
  engine.last.body.end('well');
  await settled();
  await settled();
  expect(request.notes).toEqual(['head 201 and well', 'end']);
  expect(events).toEqual(['failed h3 connect', 'answered instead of h3: connect', 'done']);
});

it('fails for good where the response to a POST broke off as soon as it had begun', async () => {
  const request = new NotedRequest('POST');
  begin(request);
  engine.last.answer();
  engine.last.body.on('error', () => {}).destroy(new ExchangeError('reset', 'cut', true));
  await settled();
  await settled();
  expect(request.notes).toEqual(['fail']);
  expect(events).toEqual(['failed h3 reset', 'done']);
});

it('has its origin asked while it waits under HTTP/3, ever more seldom', async () => {
  begin(new NotedRequest('GET'));
  for (const [afterMs, times] of [
    [999, 0],
    [1, 1],
    [1_999, 1],
    [1, 2],
    [5_999, 2],
    [1, 3],
    [12_000, 4],
  ] as const) {
    vi.advanceTimersByTime(afterMs);
    expect(events).toHaveLength(times);
  }
  engine.last.answer();
  await settled();
  events.length = 0;
  vi.advanceTimersByTime(1_000_000);
  expect(events).toEqual([]);
});

it('moves on when asked, and ignores the former attempt', async () => {
  const request = new NotedRequest('GET');
  const relay = begin(request);
  const former = engine.last;
  former.sent = true;
  relay.useNextProtocol('h3', 'silence');
  expect(former.cancelled).toBe(true);
  expect(engine.last.request.protocol).toBe('h2');
  relay.useNextProtocol('h3', 'silence');
  engine.last.answer();
  await settled();
  expect(engine.exchanges).toHaveLength(2);
  expect(request.notes).toEqual(['head 200']);
  expect(events).toEqual(['answered instead of h3: timeout']);
  relay.useNextProtocol('h2', 'too late');
  expect(engine.exchanges).toHaveLength(2);
});

it('stays where it is when it may not be repeated', () => {
  const request = new NotedRequest('POST');
  const relay = begin(request);
  engine.last.sent = true;
  relay.useNextProtocol('h3', 'silence');
  expect(engine.exchanges).toHaveLength(1);
  expect(engine.last.cancelled).toBe(false);
  expect(request.notes).toEqual([]);
});

it('leaves a request whose body is gone to the browser', () => {
  const request = new NotedRequest('PUT', Readable.from(['body']));
  const relay = begin(request);
  relay.useNextProtocol('h3', 'silence');
  expect(request.notes).toEqual(['refuse']);
  expect(events).toEqual(['done']);
});

it('tries again when a response breaks off right after its head', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  engine.last.body.on('error', () => {});
  engine.last.answer();
  engine.last.body.destroy(new ExchangeError('reset', 'cut', true));
  await settled();
  expect(request.notes).toEqual([]);
  expect(engine.exchanges).toHaveLength(2);
  engine.last.answer();
  engine.last.body.end('well');
  await settled();
  await settled();
  expect(request.notes).toEqual(['head 200 and well', 'end']);
});

it('fails for good when a response breaks off', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  engine.last.answer();
  await settled();
  engine.last.body.destroy(new Error('cut'));
  await settled();
  expect(request.notes).toEqual(['head 200', 'fail']);
  expect(engine.exchanges).toHaveLength(1);
});

it('ends with the browser', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  request.onGone();
  await settled();
  expect(engine.last.cancelled).toBe(true);
  expect(request.notes).toEqual([]);
  expect(events).toEqual(['done']);
});

it('passes on so many informational responses and no more', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  const { onInformational } = engine.last as { onInformational?: (status: number, fields: []) => void };
  for (let times = 0; times < 100; times += 1) onInformational!(103, []);
  expect(request.notes).toHaveLength(32);
});

it.each([
  ['GET', 'refuse'],
  ['POST', 'fail'],
])('ends a %s whose response cannot be written: %s', async (method, outcome) => {
  const request = new NotedRequest(method);
  request.head = () => {
    throw new Error('odd');
  };
  begin(request);
  engine.last.answer();
  await settled();
  expect(request.notes).toEqual([outcome]);
  expect(engine.last.cancelled).toBe(true);
  expect(events).toEqual(['answered h3', 'unpassable odd', 'done']);
});

it('reports a response that no protocol accepts, and leaves the request to the browser', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  // As libcurl reports too large a header over HTTP/3, twice.
  for (const code of ['reset', 'reset', 'protocol', 'protocol'] as const) {
    engine.last.fail(code, true);
    await settled();
  }
  expect(request.notes).toEqual(['refuse']);
  expect(events).toEqual(['failed h3 reset', 'failed h3 reset', 'unpassable protocol', 'done']);
});

it.each(['GET', 'POST'])(
  'leaves a %s to the browser that is answered by a log-in of the connection, and ends the pin',
  async (method) => {
    const request = new NotedRequest(method);
    begin(request);
    engine.last.answer(401, [
      ['www-authenticate', 'Basic realm="a, NTLM"'],
      ['WWW-Authenticate', 'Negotiate, ntlm'],
    ]);
    await settled();
    expect(request.notes).toEqual(['refuse']);
    expect(engine.last.cancelled).toBe(true);
    expect(events).toEqual(['unpassable the origin authenticates connections', 'done']);
  },
);

it('passes other log-ins on', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  engine.last.answer(401, [['www-authenticate', 'Digest realm="ntlm", qop="auth", Basic realm="negotiate"']]);
  await settled();
  expect(request.notes).toEqual(['head 401']);
});

it('answers in one go with a response that is whole, unless it has trailers', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  engine.last.body.end('well');
  engine.last.arrivedTrailers = [];
  engine.last.answer(201);
  await settled();
  expect(request.notes).toEqual(['answer 201 of well']);
  expect(events).toEqual(['answered h3', 'done']);

  const other = new NotedRequest('GET');
  begin(other);
  engine.last.body.end('well');
  engine.last.arrivedTrailers = [['x-digest', '1']];
  engine.last.answer(201);
  await settled();
  await settled();
  expect(other.notes).toEqual(['head 201 and well', 'end']);
});

const protocols = (): string[] => engine.exchanges.map(({ request: { protocol } }) => protocol);

it.each(['GET', 'HEAD', 'OPTIONS'])(
  'sends a %s under another protocol as well where nothing comes back; the first answer wins',
  async (method) => {
    const request = new NotedRequest(method);
    begin(request);
    const first = engine.last;
    first.sent = true;
    first.fallSilent();
    first.fallSilent();
    expect(protocols()).toEqual(['h3', 'h2']);
    expect(first.cancelled).toBe(false);
    engine.last.answer(201);
    await settled();
    first.answer(200);
    await settled();
    expect(first.cancelled).toBe(true);
    expect(request.notes).toEqual(['head 201']);
    expect(events).toEqual(['h2 has overtaken h3']);
  },
);

it('ends the second attempt where the first is answered after all, and says nothing of the protocol', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  const first = engine.last;
  first.fallSilent();
  first.isSilent = false;
  first.answer();
  await settled();
  expect(engine.last.cancelled).toBe(true);
  expect(request.notes).toEqual(['head 200']);
  expect(events).toEqual(['answered h3']);
});

it('says nothing of a protocol under which something has come back before the second attempt is answered', async () => {
  const request = new NotedRequest('GET');
  begin(request);
  const first = engine.last;
  first.fallSilent();
  first.isSilent = false;
  engine.last.answer();
  await settled();
  expect(first.cancelled).toBe(true);
  expect(request.notes).toEqual(['head 200']);
  expect(events).toEqual([]);
});

it.each(['PUT', 'DELETE', 'POST', 'PATCH'])('has no second %s in progress', (method) => {
  begin(new NotedRequest(method));
  engine.last.fallSilent();
  expect(protocols()).toEqual(['h3']);
});

it('has no second attempt of a request with a body, nor of one whose response has begun', async () => {
  begin(new NotedRequest('GET', Readable.from(['body'])));
  engine.last.fallSilent();
  begin(new NotedRequest('GET'));
  engine.last.answer();
  await settled();
  engine.last.fallSilent();
  expect(protocols()).toEqual(['h3', 'h3']);
});

it('goes on with the first attempt where the second fails, and with the second where the first does', async () => {
  begin(new NotedRequest('GET'));
  const first = engine.last;
  first.fallSilent();
  engine.last.fail('connect');
  await settled();
  expect(first.cancelled).toBe(false);
  first.fail('timeout', true);
  await settled();
  // Nobody knows any more why the second attempt has failed.
  expect(protocols()).toEqual(['h3', 'h2', 'h2']);

  const request = new NotedRequest('GET');
  const relay = begin(request);
  const silent = engine.last;
  silent.fallSilent();
  const second = engine.last;
  relay.useNextProtocol('h3', 'silence');
  expect([silent.cancelled, second.cancelled, engine.last === second]).toEqual([true, false, true]);
  second.answer();
  await settled();
  expect(request.notes).toEqual(['head 200']);
});

it('repeats the second attempt once where its connection had ended', async () => {
  begin(new NotedRequest('GET'));
  engine.last.fallSilent();
  engine.last.fail('reset', true);
  await settled();
  expect(protocols()).toEqual(['h3', 'h2', 'h2']);
  engine.last.fail('reset', true);
  await settled();
  expect(protocols()).toEqual(['h3', 'h2', 'h2']);
});

it('ends both attempts with the browser', () => {
  const request = new NotedRequest('GET');
  begin(request);
  engine.last.fallSilent();
  request.onGone();
  expect(engine.exchanges.map(({ cancelled }) => cancelled)).toEqual([true, true]);
  expect(request.notes).toEqual([]);
});
