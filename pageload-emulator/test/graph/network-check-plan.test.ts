import type { RecordedRequest } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { planCheckOf, planNetworkCheck } from '../../src/graph/network-check-plan.ts';
import { parseRecording } from '../../src/index.ts';
import { chromiumHar } from '../support/hars.ts';

const PAGE = 'https://shop.test/';
const [REQUEST] = parseRecording(JSON.stringify(chromiumHar())).requests;

const requestOf = (id: number, changes: Partial<RecordedRequest>): RecordedRequest => ({
  ...REQUEST!,
  id,
  url: `${PAGE}${id}`,
  type: 'image',
  method: 'GET',
  status: 200,
  fromCache: false,
  protocol: 'h2',
  offersH3: null,
  bodyBytes: 0,
  ...changes,
});

const planned = (requests: readonly RecordedRequest[]) =>
  planNetworkCheck({ url: PAGE, requests }, 'Browser/1');

const OFFERING = [
  requestOf(0, { offersH3: true }),
  requestOf(1, { bodyBytes: 90_000 }),
  requestOf(2, { bodyBytes: 250_000 }),
  requestOf(3, { bodyBytes: 40_000, type: 'fetch' }),
];

test('a check transfers the largest file that fits, of a server that offers HTTP/3', () => {
  expect(planned(OFFERING)!.transfers.map(({ url }) => url)).toEqual([`${PAGE}2`]);
});

test.each([
  ['no server offers HTTP/3', OFFERING.map((request) => ({ ...request, offersH3: null }))],
  ['too little came from the server that does', OFFERING.slice(0, 1)],
  ['what came from it is more than a check may transfer', [OFFERING[0]!, requestOf(1, { bodyBytes: 1e6 })]],
])('there is no plan where %s', (_why, requests) => {
  expect(planned(requests)).toBeNull();
});

test('a plan transfers small responses several times', () => {
  const requests = [0, 1, 2].map((id) => requestOf(id, { protocol: 'h3', bodyBytes: 60_000 - id }));
  expect(planned(requests)!.transfers.map(({ url }) => url)).toEqual(
    [0, 1, 2, 0].map((id) => `${PAGE}${id}`),
  );
  expect(planned(requests.map((request) => ({ ...request, bodyBytes: 5_000 })))).toBeNull();
});

test('a plan fills its budget with several responses', () => {
  const responses = [0, 1, 2, 3, 4].map((id) => ({ url: `${PAGE}${id}`, bytes: 70_000 }));
  const { transfers } = planCheckOf(responses, PAGE, 'Browser/1')!;
  expect(transfers).toHaveLength(4);
  expect(transfers.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(280_000);
});
