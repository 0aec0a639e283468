import { expect, test } from 'vitest';
import type { JoinedRequest } from '../../src/recorder/joined-request.ts';
import type { ResourceEntry } from '../../src/recorder/page-timings.ts';
import { findWorkerFetches } from '../../src/recorder/worker-fetches.ts';

/** A request that a service worker answered, as Chromium measures it. */
function answered(startMs: number, endMs: number, more: Partial<ResourceEntry> = {}): JoinedRequest {
  const entry = {
    workerStart: startMs,
    requestStart: startMs,
    responseStart: endMs - 1,
    responseEnd: endMs,
    nextHopProtocol: '',
    deliveryType: 'cache',
    ...more,
  };
  return { entry } as JoinedRequest;
}

const find = (requests: readonly JoinedRequest[]) => {
  const fetched = findWorkerFetches(requests);
  return requests.map((each) => fetched.has(each));
};

test('what comes much later than the worker takes for what it keeps came over the network', () => {
  expect(find([answered(200, 240), answered(210, 2_000)])).toEqual([false, true]);
});

test('what the worker fetched does not keep others from being answered', () => {
  expect(find([answered(200, 2_000), answered(210, 400), answered(220, 240)])).toEqual([true, true, false]);
});

test('a worker that is busy answers what it keeps one after another', () => {
  const queue = Array.from({ length: 50 }, (_, index) => answered(200, 210 + 10 * index));
  expect(find(queue)).not.toContain(true);
  expect(find([...queue, answered(201, 900)]).at(-1)).toBe(true);
});

test('the order is that of the requests, not of the list', () => {
  expect(find([answered(250, 460), answered(200, 290), answered(201, 380)])).toEqual([false, false, false]);
});

test.each<[string, Partial<ResourceEntry>]>([
  ['the worker took it from its own cache', { deliveryType: 'cache-storage' }],
  ['the worker left it to the browser, which fetched it', { nextHopProtocol: 'h2' }],
  ['no worker had it', { workerStart: 0 }],
  ['its times are withheld', { responseStart: 0 }],
])('a slow answer is not ascribed to the worker where %s', (_, more) => {
  expect(find([answered(200, 2_000, more)])).toEqual([false]);
});
