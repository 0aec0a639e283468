import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HeaderField } from '../../../src/exchange/headers.ts';
import { BodyRelay } from '../../../src/pins/terminating/body-relay.ts';
import type { BrowserRequest } from '../../../src/pins/terminating/browser-request.ts';
import { FakeEngine, settled } from './support/fake-engine.ts';

const FIELDS: HeaderField[] = [
  ['etag', '"a"'],
  ['content-length', '10'],
];

let engine: FakeEngine;
let events: string[];
let passed: string;
let takes: boolean;
let request: BrowserRequest;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  engine = new FakeEngine();
  events = [];
  passed = '';
  takes = true;
  request = {
    method: 'GET',
    target: '/',
    headers: [['cookie', 'a=1']],
    body: null,
    onDrain: () => {},
    write: (chunk: Buffer) => {
      passed += chunk;
      return takes;
    },
  } as unknown as BrowserRequest;
});

afterEach(() => {
  vi.useRealTimers();
});

/** A response of ten bytes over HTTP/3, of which four have come. */
async function begin(fields = FIELDS, protocol: 'h2' | 'h3' = 'h3') {
  const open = (asked: { protocol: 'h1' | 'h2' | 'h3'; headers: readonly HeaderField[] }) =>
    engine.exchange({ ...asked, method: 'GET', url: 'https://a.test/', body: null });
  const exchange = open({ protocol, headers: [] });
  const relay = new BodyRelay({
    request,
    exchange,
    head: { protocol, status: 200, headers: fields },
    passedBytes: 1,
    open,
    onStalled: (late) => events.push(`stalled ${late}`),
    onOvertaken: (by) => events.push(`overtaken by ${by}`),
    onFailed: ({ code }) => events.push(`failed ${code}`),
    onEnd: (trailers, isResumed) =>
      events.push(`ended ${isResumed ? 'resumed' : 'itself'} with ${trailers.length}`),
    onBrokenOff: () => events.push('broken off'),
  });
  await say(exchange, 'bcd');
  return { exchange, relay };
}

type Fake = FakeEngine['last'];

async function say(exchange: Fake, text: string): Promise<void> {
  exchange.body.write(text);
  await settled();
}

async function end(exchange: Fake): Promise<void> {
  exchange.body.end();
  await settled();
  await settled();
}

async function lose(exchange: Fake, code: 'reset' | 'certificate' = 'reset'): Promise<void> {
  exchange.fail(code, true);
  exchange.body.destroy(exchange.fault!);
  await settled();
}

async function answerRest(exchange: Fake, range = 'bytes 4-9/10', status = 206): Promise<void> {
  exchange.answer(status, [
    ['etag', '"a"'],
    ['content-range', range],
  ]);
  await settled();
}

function protocols(): string[] {
  return engine.exchanges.map((exchange) => exchange.request.protocol);
}

/** Lets the response stall for so long that a dead path shows, and shows it. */
function die(exchange: Fake): void {
  vi.advanceTimersByTime(1_000);
  exchange.fallSilent();
}

it('has something sent where nothing comes, ever more seldom, and asks for nothing as long as that is answered', async () => {
  const { exchange } = await begin();
  for (const [afterMs, times] of [
    [999, 0],
    [1, 1],
    [1_999, 1],
    [1, 2],
    [4_000, 3],
  ] as const) {
    vi.advanceTimersByTime(afterMs);
    expect(events).toEqual(Array(times).fill('stalled h3'));
  }
  await say(exchange, 'e');
  vi.advanceTimersByTime(999);
  expect(events).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(events).toHaveLength(4);
  expect(protocols()).toEqual(['h3']);
});

it('passes the rest on from another exchange where nothing comes back', async () => {
  const { exchange } = await begin();
  die(exchange);
  const rest = engine.last;
  expect(rest.request).toMatchObject({
    protocol: 'h2',
    headers: [
      ['cookie', 'a=1'],
      ['range', 'bytes=4-'],
      ['if-range', '"a"'],
    ],
  });
  await answerRest(rest);
  expect(exchange.cancelled).toBe(true);
  expect(events).toEqual(['stalled h3', 'overtaken by h2']);
  await say(rest, 'efghij');
  await end(rest);
  expect(passed).toBe('bcdefghij');
  expect(events.at(-1)).toBe('ended resumed with 0');
  vi.advanceTimersByTime(1_000_000);
  expect(events).toHaveLength(3);
});

it('asks for nothing while the body comes, the browser does not take it, or after its end', async () => {
  const { exchange } = await begin();
  vi.advanceTimersByTime(999);
  exchange.fallSilent();
  await say(exchange, 'e');
  vi.advanceTimersByTime(999);
  takes = false;
  await say(exchange, 'f');
  vi.advanceTimersByTime(100_000);
  exchange.fallSilent();
  expect(events).toEqual([]);
  takes = true;
  request.onDrain();
  await say(exchange, 'ghij');
  await end(exchange);
  vi.advanceTimersByTime(100_000);
  expect(events).toEqual(['ended itself with 0']);
  expect(protocols()).toEqual(['h3']);
});

it('asks after the browser has taken what there was, if nothing came back meanwhile', async () => {
  const { exchange } = await begin();
  takes = false;
  await say(exchange, 'e');
  exchange.fallSilent();
  takes = true;
  request.onDrain();
  vi.advanceTimersByTime(1_000);
  expect(protocols()).toEqual(['h3', 'h2']);
  expect(engine.last.request.headers).toContainEqual(['range', 'bytes=5-']);
});

it('goes on with the first exchange where it is the first to go on', async () => {
  const { exchange } = await begin();
  die(exchange);
  const rest = engine.last;
  await say(exchange, 'efghij');
  expect(rest.cancelled).toBe(true);
  await answerRest(rest);
  await end(exchange);
  expect(passed).toBe('bcdefghij');
  expect(events).toEqual(['stalled h3', 'ended itself with 0']);
});

it('tries the other protocol where the first does not answer, and both again later', async () => {
  const { exchange } = await begin();
  die(exchange);
  engine.last.fail('connect');
  await settled();
  expect(protocols()).toEqual(['h3', 'h2', 'h1']);
  engine.last.fail('connect');
  await settled();
  expect(protocols()).toHaveLength(3);
  vi.advanceTimersByTime(2_000);
  expect(protocols()).toEqual(['h3', 'h2', 'h1', 'h2']);
  await answerRest(engine.last);
  await say(engine.last, 'efghij');
  await end(engine.last);
  expect(passed).toBe('bcdefghij');
});

it.each([
  ['of the whole', '', 200],
  ['of other bytes', 'bytes 5-9/10', 206],
])('passes nothing on of an answer %s, and asks no more', async (_what, range, status) => {
  const { exchange } = await begin();
  die(exchange);
  const rest = engine.last;
  await answerRest(rest, range, status);
  await say(rest, 'abcdefghij');
  expect(rest.cancelled).toBe(true);
  vi.advanceTimersByTime(100_000);
  expect(protocols()).toHaveLength(2);
  expect([passed, events]).toEqual(['bcd', ['stalled h3']]);
  await lose(exchange);
  expect(events).toEqual(['stalled h3', 'failed reset', 'broken off']);
});

it.each([
  ['short', 'efghi'],
  ['long', 'efghijk'],
])('breaks off where the rest is too %s', async (_what, bytes) => {
  const { exchange } = await begin();
  die(exchange);
  const rest = engine.last;
  await answerRest(rest);
  await say(rest, bytes);
  await end(rest);
  expect(events).toEqual(['stalled h3', 'overtaken by h2', 'broken off']);
  expect(passed.length).toBeLessThan(10);
});

it('breaks off where the rest breaks off: it is not asked for twice', async () => {
  const { exchange } = await begin();
  die(exchange);
  await answerRest(engine.last);
  await lose(engine.last);
  expect(events).toEqual(['stalled h3', 'overtaken by h2', 'broken off']);
  expect(protocols()).toHaveLength(2);
});

it('asks for the rest where the connection is lost, before and after it has asked', async () => {
  const lost = await begin();
  await lose(lost.exchange);
  expect(events).toEqual(['failed reset']);
  await answerRest(engine.last);
  await say(engine.last, 'efghij');
  await end(engine.last);
  expect(events).toEqual(['failed reset', 'ended resumed with 0']);

  events = [];
  const { exchange } = await begin();
  die(exchange);
  const rest = engine.last;
  await lose(exchange);
  expect(events).toEqual(['stalled h3', 'failed reset']);
  rest.fail('connect');
  await settled();
  expect(engine.last.request.protocol).toBe('h1');
  engine.last.fail('connect');
  await settled();
  expect(events).toEqual(['stalled h3', 'failed reset', 'broken off']);
});

it('does not ask where the failure is another one', async () => {
  const { exchange } = await begin();
  await lose(exchange, 'certificate');
  expect(events).toEqual(['failed certificate', 'broken off']);
  expect(protocols()).toHaveLength(1);
});

it('ends a body whose length has come where nothing comes back, but not where its stream broke off', async () => {
  const { exchange } = await begin();
  await say(exchange, 'efghij');
  die(exchange);
  expect(events).toEqual(['stalled h3', 'ended itself with 0']);
  expect(exchange.cancelled).toBe(true);

  events = [];
  const lost = await begin();
  await say(lost.exchange, 'efghij');
  await lose(lost.exchange);
  expect(events).toEqual(['failed reset', 'broken off']);
});

it.each<[string, HeaderField[], 'h2' | 'h3']>([
  ['without a validator', [['content-length', '10']], 'h3'],
  ['over HTTP/2', FIELDS, 'h2'],
])('leaves a response %s as it is', async (_what, fields, protocol) => {
  const { exchange } = await begin(fields, protocol);
  die(exchange);
  vi.advanceTimersByTime(100_000);
  await lose(exchange);
  expect(events).toEqual(['failed reset', 'broken off']);
  expect(engine.exchanges).toHaveLength(1);
});

it('ends with the browser', async () => {
  const { exchange, relay } = await begin();
  die(exchange);
  relay.cancel();
  expect(engine.exchanges.map(({ cancelled }) => cancelled)).toEqual([true, true]);
  vi.advanceTimersByTime(100_000);
  expect(events).toEqual(['stalled h3']);
});
