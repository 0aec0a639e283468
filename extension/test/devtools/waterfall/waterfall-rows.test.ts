import { predict } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { layOutConnections, layOutRecorded } from '../../../src/devtools/connections/streams.ts';
import {
  dependentsOf,
  filterRows,
  initiatorChain,
  joinRows,
  NO_FILTER,
  placeBar,
  sortRows,
  zoom,
} from '../../../src/devtools/waterfall/rows.ts';
import { predictedWaterfall, recordedWaterfall } from '../../../src/ui/waterfall.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';
import { largePage } from '../../support/large-page.ts';

const recording = largePage(60);
const prediction = predict(recording, { waterfall: true });
const recorded = recordedWaterfall(recording).rows;

describe('rows', () => {
  const rows = joinRows(recording, recorded, predictedWaterfall(recording, prediction, 'h2')!.rows, []);

  test('have the same request of both loads', () => {
    expect(rows).toHaveLength(60);
    for (const { request, main, compared } of rows) {
      expect(main.requestId).toBe(request.id);
      expect(compared?.requestId).toBe(request.id);
    }
  });

  test('are filtered by all criteria together', () => {
    // Requests 1, 21 and 41 are scripts; 1 and 41 are not of origin 21 mod 12 = 9.
    const filter = { ...NO_FILTER, type: 'script' as const, origin: 'https://o9.page.test' };
    expect(filterRows(rows, filter).map(({ request }) => request.id)).toEqual([21]);
    expect(filterRows(rows, { ...NO_FILTER, text: 'O9.PAGE' }).map(({ request }) => request.id)).toEqual([
      9, 21, 33, 45, 57,
    ]);
    expect(filterRows(rows, { ...NO_FILTER, isCriticalOnly: true })).toEqual([]);
  });

  test('are sorted by duration from the longest on, and by size from the largest', () => {
    const durations = sortRows(rows, { key: 'duration', isReversed: false }).map(
      ({ main }) => main.endMs - main.startMs,
    );
    expect(durations).toEqual(durations.toSorted((a, b) => b - a));
    // All are of one size: the order is that of their starts.
    expect(sortRows(rows, { key: 'size', isReversed: false }).map(({ request }) => request.id)).toEqual(
      rows.map(({ request }) => request.id),
    );
  });
});

test('the chain of initiators ends at the document, also where a recording has a circle', () => {
  expect(initiatorChain(recording, recording.requests[25]!).map(({ id }) => id)).toEqual([0, 21, 25]);
  expect(dependentsOf(recording, recording.requests[21]!).map(({ id }) => id)).toEqual(
    Array.from({ length: 19 }, (_, index) => 22 + index),
  );
  const circular = structuredClone(recording);
  circular.requests[21]!.initiator.requestId = 25;
  expect(initiatorChain(circular, circular.requests[25]!).map(({ id }) => id)).toEqual([21, 25]);
});

describe('zooming', () => {
  test('keeps the time below the pointer', () => {
    // 400 is 40% of 0 to 1000, and of 200 to 700.
    expect(zoom({ fromMs: 0, toMs: 1000 }, 0.5, 400, 1000)).toEqual({ fromMs: 200, toMs: 700 });
  });

  test('ends at the load and at 10 ms', () => {
    expect(zoom({ fromMs: 200, toMs: 700 }, 4, 200, 1000)).toEqual({ fromMs: 0, toMs: 1000 });
    expect(zoom({ fromMs: 500, toMs: 512 }, 0.5, 506, 1000)).toEqual({ fromMs: 501, toMs: 511 });
  });

  test('cuts bars at the visible range', () => {
    expect(placeBar({ startMs: 0, endMs: 150 }, { fromMs: 100, toMs: 200 })).toEqual({ left: 0, width: 50 });
    expect(placeBar({ startMs: 0, endMs: 99 }, { fromMs: 100, toMs: 200 })).toBeNull();
  });
});

test('requests that overlap on a connection have lanes of their own', () => {
  const connection = {
    origin: 'https://page.test',
    openingMs: 0,
    openMs: 20,
    requests: 3,
    requestIds: [1, 2, 3],
    bytes: 0,
    lost: { random: 0, queue: 0, policed: 0 },
    timeouts: 0,
  };
  const entry = (requestId: number, sentMs: number, endMs: number) => ({
    requestId,
    startMs: 0,
    sentMs,
    firstByteMs: sentMs,
    endMs,
  });
  const waterfall = [entry(1, 20, 50), entry(2, 30, 60), entry(3, 50, 90)];
  const [row] = layOutConnections({ connections: [connection], waterfall }, 'h2');
  expect(row!.streams.map(({ entry, lane }) => [entry.requestId, lane])).toEqual([
    [1, 0],
    [2, 1],
    [3, 0],
  ]);
  expect(row).toMatchObject({ lanes: 2, endMs: 90 });
});

test('recorded connections differ by name, or by origin and protocol where they have none', () => {
  const phases = { ...requestOf(0).phases, connectStartMs: 10, connectEndMs: 40 };
  const { recording: load } = loadOf(1, {
    recording: {
      requests: [
        requestOf(0, { connectionId: '7', phases, startMs: 5 }),
        requestOf(1, { connectionId: '7' }),
        requestOf(2, { connectionId: '8', startMs: 60 }),
        requestOf(3, { url: 'https://cdn.test/1', startMs: 70 }),
        requestOf(4, { url: 'https://cdn.test/2', startMs: 71 }),
        requestOf(5, { url: 'https://cdn.test/3', startMs: 72, protocol: 'h3' }),
        requestOf(6, { fromCache: true }),
      ],
    },
  });
  const rows = layOutRecorded(load).map(({ connection, protocol }) => [
    connection.requestIds,
    connection.openingMs,
    connection.openMs,
    protocol,
  ]);
  expect(rows).toEqual([
    [[0, 1], 10, 40, 'h2'],
    [[2], 60, null, 'h2'],
    [[3, 4], 70, null, 'h2'],
    [[5], 72, null, 'h3'],
  ]);
});
