import { EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HelperPins } from '../../../src/helper/helper-connection.ts';
import { PinList } from '../../../src/pins/worker/pin-list.ts';
import { PinRouting, WAITING_PIN_DELAY_MS } from '../../../src/pins/worker/pin-routing.ts';
import type { Route } from '../../../src/pins/worker/steering.ts';

const A = 'https://a.test';
const B = 'https://b.test';

const pinOf = (origin: string, state: PinState['state'] = 'active'): PinState => ({
  origin,
  kind: 'avoid-h3',
  persistent: false,
  expiresAtMs: null,
  state,
  reason: '',
});

let routes: (Route | 'none')[];
let trials: string[];
let due: number;
let routing: PinRouting;

beforeEach(() => {
  vi.useFakeTimers();
  routes = [];
  due = 0;
  trials = [];
  const steering = {
    findObstacle: async () => null,
    setRoute: async (route: Route) => void routes.push(route),
    clearRoute: async () => void routes.push('none'),
  };
  routing = new PinRouting(steering, new PinList(), { listOrigins: () => trials }, () => void due++);
});

afterEach(() => vi.useRealTimers());

/** The helper reports pins, by which the browser is then routed. */
async function report(pins: PinState[], more: Partial<HelperPins> = {}): Promise<Route | 'none' | undefined> {
  routing.applyReport({ port: 4321, ...more, pins });
  await routing.route({});
  return routes.at(-1);
}

test('active pins are routed at once, new ones that wait only after a while', async () => {
  expect(await report([pinOf(A), pinOf(B, 'waiting')])).toMatchObject({ port: 4321, origins: [A] });
  await vi.advanceTimersByTimeAsync(WAITING_PIN_DELAY_MS - 1);
  expect(due).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(due).toBe(1);
  await routing.route({});
  expect(routes.at(-1)).toMatchObject({ origins: [A, B] });
});

test('one that no longer waits is routed at once', async () => {
  await report([pinOf(A, 'waiting')]);
  expect(await report([pinOf(A)])).toMatchObject({ origins: [A] });
});

test('a pin of every origin leaves sites to the browser, and is in effect while the helper has it', async () => {
  routing.leftSites = ['left.test'];
  const everyOrigin = { ports: [443], exceptions: [] };
  const route = await report([pinOf(EVERY_ORIGIN)], { everyOrigin } as Partial<HelperPins>);
  expect(route).toMatchObject({ origins: [], everyOrigin: { ...everyOrigin, leftSites: ['left.test'] } });
  expect([await report([]), routing.everyOrigin]).toEqual(['none', null]);
});

test('connections may be open through the proxy once anything was routed, and stay so', async () => {
  await report([]);
  expect(routing.hasRouted).toBe(false);
  await report([pinOf(A)]);
  await report([]);
  expect(routing.hasRouted).toBe(true);
});

test('trust trials are routed as well, and alone open no connections of pages', async () => {
  trials = ['https://a.test:49151'];
  expect(await report([])).toMatchObject({ origins: [], trials });
  expect(routing.hasRouted).toBe(false);
});
