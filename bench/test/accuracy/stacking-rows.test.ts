import { beforeAll, expect, test } from 'vitest';
import { mediansAt } from '../../../lab/src/judge/cell-ground-truth.ts';
import { type Cell, readCells } from '../../src/accuracy/cells.ts';
import { type StackingRow, stackingRow } from '../../src/accuracy/stacking-rows.ts';

let open: Cell;
let policed: Cell;

beforeAll(async () => {
  const { cells } = await readCells('bench/golden', {
    pages: ['web-p25'],
    networks: ['cable', 'udp-policed'],
  });
  [open, policed] = ['cable', 'udp-policed'].map(
    (name) => cells.find(({ network }) => network === name)!,
  ) as [Cell, Cell];
});

const rowOf = (cell: Cell, knowledge: StackingRow['knowledge']) =>
  stackingRow(cell, cell.recorded[0]!, knowledge)!;

test('a row has the measured medians as costs, and every feature by name', () => {
  const row = rowOf(open, 'udp');
  const measured = mediansAt(open.loads, open.recorded[0]!.judgingSeeds);
  for (const protocol of ['h1', 'h2', 'h3'] as const)
    expect(row.costMs[protocol]).toBeCloseTo(measured[protocol]!, 6);
  expect(row).toMatchObject({
    page: 'web-p25',
    network: 'cable',
    rule: 'h3',
    recorded: 'natural',
    udp: 'open',
  });
  expect(row.features).toMatchObject({ udpPoliced: 0, emulatedRatio_h2: 0, decisionRatio_h2: 0 });
  const { recording } = open.recorded[0]!;
  expect(row.features.recordedMs).toBe(recording.pltMs);
  // Goodput of what arrived: not above the link's rate, in bytes a millisecond.
  expect(row.features.completion_goodput).toBeGreaterThan(0);
  expect(row.features.completion_goodput).toBeLessThan(open.path.downBps / 8e3);
  expect(Object.values(row.features).every((value) => value === null || Number.isFinite(value))).toBe(true);
  expect(Object.keys(rowOf(open, 'estimated').features)).toEqual(Object.keys(row.features));
});

test('what is known of UDP differs, and the rule knows it in each row', () => {
  const [known, unknown] = [rowOf(policed, 'udp'), rowOf(policed, 'estimated')];
  expect(known.features.udpPoliced).toBe(1);
  expect(unknown.features.udpPoliced).toBeLessThan(1);
  expect([known.rule, unknown.rule]).toEqual(['h2', 'h2']);
});

test('loads that do not judge two protocols give no row', () => {
  expect(stackingRow(open, { ...open.recorded[0]!, judgingSeeds: [] }, 'udp')).toBeNull();
});
