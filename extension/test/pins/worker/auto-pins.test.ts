import type { MeasuredExchange, Protocol } from '@hopwise/contract';
import { beforeEach, expect, test, vi } from 'vitest';
import { HelperError } from '../../../src/helper/helper-port.ts';
import { AutoPins } from '../../../src/pins/worker/auto-pins.ts';

const ORIGIN = 'https://shop.test';
const OTHER = 'https://other.test';

let steered: string[];
/** Protocols that origins refuse. */
let refused: Protocol[];
let isHindered: boolean;
/** What the trees answer; null where the rule decides. */
let logRatio: number | null;
let asked: { transport: string; row: number[] }[];
let released: number;
let pins: AutoPins;
let endedAtMs = 1_700_000_000_000;

beforeEach(() => {
  steered = [];
  refused = [];
  isHindered = false;
  logRatio = null;
  asked = [];
  released = 0;
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  pins = new AutoPins({
    steer: async (origin, protocol) => {
      if (refused.includes(protocol))
        throw new HelperError('unavailable', () => 'the origin does not answer');
      steered.push(`${origin} ${protocol}`);
    },
    mayTryQuic: async () => !isHindered,
    predict: async (row, transport) => {
      asked.push({ transport, row: [...row] });
      return logRatio;
    },
    releaseTrees: async () => void released++,
  });
});

/** Requests end one after the other. */
function nextMs(): number {
  endedAtMs += 100;
  return endedAtMs;
}

const exchangesOf = (
  protocol: Protocol,
  count: number,
  completionMs = 100,
  status = 200,
): MeasuredExchange[] =>
  Array.from({ length: count }, (_, index) => ({
    endedAtMs: nextMs(),
    protocol,
    status,
    ttfbMs: 0.6 * completionMs + index,
    completionMs: completionMs + index,
    bodyBytes: 20_000,
    isReused: true,
    tcp: null,
  }));

test('requests over TCP lead to a trial of HTTP/3, which is taken back where they become slower', async () => {
  await pins.handle(ORIGIN, exchangesOf('h2', 9));
  expect(steered).toEqual([]);
  await pins.handle(ORIGIN, exchangesOf('h2', 3));
  expect(steered).toEqual([`${ORIGIN} h3`]);
  await pins.handle(ORIGIN, exchangesOf('h3', 10, 400));
  expect(steered).toEqual([`${ORIGIN} h3`, `${ORIGIN} h2`]);
  await pins.handle(ORIGIN, exchangesOf('h2', 20));
  expect(steered).toHaveLength(2);
});

test('HTTP/1.1 counts as TCP; answers of errors count as nothing', async () => {
  await pins.handle(ORIGIN, [...exchangesOf('h1', 5), ...exchangesOf('h2', 20, 5, 503)]);
  expect(steered).toEqual([]);
  await pins.handle(ORIGIN, exchangesOf('h2', 5));
  expect(steered).toEqual([`${ORIGIN} h3`]);
});

test('an origin that refuses HTTP/3 is not asked again; each origin is judged by its own requests', async () => {
  refused = ['h3'];
  await pins.handle(ORIGIN, exchangesOf('h2', 12));
  expect(steered).toEqual([]);
  refused = [];
  await pins.handle(ORIGIN, exchangesOf('h2', 40));
  expect(steered).toEqual([]);
  await pins.handle(OTHER, exchangesOf('h2', 12));
  expect(steered.at(-1)).toBe(`${OTHER} h3`);
});

test('nothing is tried on a network that hinders UDP', async () => {
  isHindered = true;
  await pins.handle(ORIGIN, exchangesOf('h2', 60));
  expect(steered).toEqual([]);
});

test('on another network, and after its pin has ended, an origin begins anew', async () => {
  await pins.handle(ORIGIN, exchangesOf('h2', 12));
  await pins.restart();
  expect(steered).toEqual([`${ORIGIN} h3`, `${ORIGIN} h2`]);
  await pins.handle(ORIGIN, exchangesOf('h2', 9));
  expect(steered).toHaveLength(2);
  pins.handlePins([{ origin: OTHER, kind: 'auto', protocol: 'h2' }]);
  pins.handlePins([{ origin: ORIGIN, kind: 'auto', protocol: 'h2' }]);
  await pins.handle(ORIGIN, exchangesOf('h2', 9));
  expect(steered).toHaveLength(2);
  await pins.handle(ORIGIN, exchangesOf('h2', 3));
  expect(steered.at(-1)).toBe(`${ORIGIN} h3`);
});

test('where the helper has fallen back to HTTP/2, HTTP/3 rests, and is tried no more where it is refused then', async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => endedAtMs);
  await pins.handle(ORIGIN, exchangesOf('h2', 12));
  pins.handlePins([{ origin: ORIGIN, kind: 'auto', protocol: 'h3' }]);
  await pins.handle(ORIGIN, exchangesOf('h3', 4));
  pins.handlePins([{ origin: ORIGIN, kind: 'auto', protocol: 'h2' }]);
  await pins.handle(ORIGIN, exchangesOf('h2', 40));
  // It is judged again by its requests over HTTP/2.
  expect(steered).toEqual([`${ORIGIN} h3`]);
  endedAtMs += 30_000;
  refused = ['h3'];
  await pins.handle(ORIGIN, exchangesOf('h2', 1));
  refused = [];
  endedAtMs += 3_600_000;
  await pins.handle(ORIGIN, exchangesOf('h2', 40));
  expect(steered).toEqual([`${ORIGIN} h3`]);
});

test('the trees are asked with the features of the present transport, once a report', async () => {
  await pins.handle(ORIGIN, exchangesOf('h2', 4));
  await pins.handle(ORIGIN, exchangesOf('h2', 4));
  expect(asked.map(({ transport }) => transport)).toEqual(['tcp', 'tcp']);
  expect(asked[1]!.row).toHaveLength(7);
  expect(asked[1]!.row[5]).toBeCloseTo(1, 1);
});

test('where they expect nothing of HTTP/3 it is not tried, and it is as soon as they do', async () => {
  for (const expected of [-0.4, 0.01]) {
    logRatio = expected;
    await pins.handle(ORIGIN, exchangesOf('h2', 12));
    expect(steered).toEqual([]);
  }
  logRatio = 0.4;
  await pins.handle(ORIGIN, exchangesOf('h2', 1));
  expect(steered).toEqual([`${ORIGIN} h3`]);
});

test('they leave HTTP/3 again, and what is known of the network outweighs them', async () => {
  logRatio = 0.4;
  await pins.handle(ORIGIN, exchangesOf('h2', 12));
  await pins.handle(ORIGIN, exchangesOf('h3', 12));
  logRatio = -0.4;
  await pins.handle(ORIGIN, exchangesOf('h3', 2));
  expect(steered).toEqual([`${ORIGIN} h3`, `${ORIGIN} h2`]);
  isHindered = true;
  logRatio = 2;
  await pins.handle(OTHER, exchangesOf('h2', 60));
  expect(steered).toHaveLength(2);
});

test('reports of an origin are handled one after another', async () => {
  logRatio = 0.4;
  await Promise.all([pins.handle(ORIGIN, exchangesOf('h2', 12)), pins.handle(ORIGIN, exchangesOf('h2', 12))]);
  expect(steered).toEqual([`${ORIGIN} h3`]);
});

test('the trees are released with the last pin of the kind', () => {
  pins.handlePins([{ origin: ORIGIN, kind: 'auto', protocol: 'h2' }]);
  expect(released).toBe(0);
  pins.handlePins([{ origin: ORIGIN, kind: 'h2', protocol: 'h2' } as never]);
  expect(released).toBe(1);
});

test('a report that comes after the end of its pin asks nothing and starts nothing', async () => {
  await pins.handle(ORIGIN, exchangesOf('h2', 4));
  const late = pins.handle(ORIGIN, exchangesOf('h2', 12));
  pins.handlePins([]);
  await Promise.all([late, pins.handle(ORIGIN, exchangesOf('h2', 12))]);
  expect(asked).toHaveLength(1);
  expect(steered).toEqual([]);
  pins.handlePins([{ origin: ORIGIN, kind: 'auto', protocol: 'h2' }]);
  await pins.handle(ORIGIN, exchangesOf('h2', 4));
  expect(asked).toHaveLength(2);
});
