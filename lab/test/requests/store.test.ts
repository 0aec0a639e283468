import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { MeasuredExchange } from '@hopwise/contract';
import { expect, it, onTestFinished } from 'vitest';
import { drawCondition } from '../../src/requests/draw-condition.ts';
import { columnsOf, SessionStore } from '../../src/requests/store.ts';

const BEGAN_AT_MS = 1_000_000;

function exchange(
  endedMs: number,
  bodyBytes: number,
  more: Partial<MeasuredExchange> = {},
): MeasuredExchange {
  return {
    endedAtMs: BEGAN_AT_MS + endedMs,
    protocol: 'h2',
    status: 200,
    ttfbMs: 5,
    completionMs: 10,
    bodyBytes,
    isReused: true,
    tcp: { rttMs: 20, segments: 3, outOfOrder: 1 },
    ...more,
  };
}

const request = (index: number, startedMs: number, tookMs: number, bytes: number, status = 200) => ({
  index,
  startedMs,
  tookMs,
  status,
  bytes,
});

it('joins what client and helper saw by size, in order of completion', () => {
  const columns = columnsOf({
    refusal: '',
    beganAtMs: BEGAN_AT_MS,
    requests: [request(0, 0, 100, 700), request(1, 10, 30.04, 500), request(2, 20, 50, 700)],
    exchanges: [
      exchange(99, 700, { protocol: 'h3', tcp: null }),
      exchange(69, 700, { isReused: false }),
      exchange(39, 500, { tcp: { rttMs: null, segments: 4, outOfOrder: 0 } }),
    ],
  });
  expect(columns).toEqual({
    index: [1, 2, 0],
    startedMs: [10, 20, 0],
    tookMs: [30, 50, 100],
    status: [200, 200, 200],
    bytes: [500, 700, 700],
    protocol: [2, 2, 3],
    endedMs: [39, 69, 99],
    ttfbMs: [5, 5, 5],
    completionMs: [10, 10, 10],
    isReused: [1, 0, 1],
    rttMs: [null, 20, null],
    segments: [4, 3, null],
    outOfOrder: [0, 1, null],
  });
});

it('leaves out what the helper has not reported, and gives failed requests nothing', () => {
  const { protocol, status } = columnsOf({
    refusal: '',
    beganAtMs: BEGAN_AT_MS,
    requests: [request(0, 0, 10, 300, 0), request(1, 0, 20, 300), request(2, 0, 30, 400)],
    exchanges: [exchange(20, 300)],
  });
  expect([status, protocol]).toEqual([
    [0, 200, 200],
    [null, 2, null],
  ]);
});

it('keeps sessions, and writes the same table whatever their order', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-requests-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const conditions = [0, 1].map((number) => drawCondition('train', 1, number));
  const session = {
    result: {
      refusal: '',
      beganAtMs: BEGAN_AT_MS,
      requests: [request(0, 0, 9, 30)],
      exchanges: [exchange(9, 30)],
    },
    changedMs: [],
    lateShare: 0,
  };
  const tables: Buffer[] = [];
  for (const [name, order] of Object.entries({ one: conditions, other: conditions.toReversed() })) {
    const store = await SessionStore.open(join(dir, name));
    for (const condition of order) {
      const key = { condition: condition.name, stack: 'go', transport: 'quic' } as const;
      expect(store.has(key)).toBe(false);
      await store.add(key, condition, session);
    }
    const again = await SessionStore.open(join(dir, name));
    expect(again.has({ condition: conditions[0]!.name, stack: 'go', transport: 'quic' })).toBe(true);
    expect(again.has({ condition: conditions[0]!.name, stack: 'go', transport: 'tcp' })).toBe(false);
    const path = join(dir, `${name}.jsonl.gz`);
    expect((await again.writeTable(path)).sessions).toBe(2);
    tables.push(await readFile(path));
  }
  expect(tables[0]).toEqual(tables[1]);
  const rows = gunzipSync(tables[0]!)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map(({ condition, transport }) => [condition, transport])).toEqual([
    ['train-1-0000', 'quic'],
    ['train-1-0001', 'quic'],
  ]);
});
