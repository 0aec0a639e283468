import { expect, it } from 'vitest';
import { lossRows, type ProbeComparison, renderComparisons } from '../../src/probe/comparison.ts';
import { drawCells } from '../../src/probe/draw-cells.ts';

function comparison(loss: number, more: Partial<ProbeComparison> = {}): ProbeComparison {
  const [cell] = drawCells(1, 1);
  return {
    cell: { ...cell!, network: { ...cell!.network, loss, lossBurst: 2 } },
    link: { loss, queueDrops: 0 },
    counted: { packets: 1000, events: 5, lost: 10 },
    loss: { median: loss, low: loss / 2, high: 2 * loss },
    lossBurst: { median: 2, low: 1, high: 3 },
    udp: {
      verdict: 'open',
      reason: 'for a test',
      answered: true,
      quicBps: null,
      tcpBps: null,
      ratio: null,
      pairs: 0,
      bytes: 0,
    },
    ...more,
  };
}

it('sums up by loss how often figures are within a factor of 1.5 and ranges hold the truth', () => {
  const rows = lossRows([
    comparison(0.01),
    // 30 of 1000 counted, estimates 0.5 and 2 times the truth, with ranges beside it.
    comparison(0.01, {
      counted: { packets: 1000, events: 20, lost: 30 },
      loss: { median: 0.005, low: 0.004, high: 0.006 },
      lossBurst: { median: 4, low: 3, high: 5 },
    }),
  ]);
  expect(rows).toEqual([
    {
      loss: 0.01,
      cells: 2,
      counted: 0.02,
      countedWithin: 0.5,
      lossWithin: 0.5,
      burstWithin: 0.5,
      lossCovered: 0.5,
      burstCovered: 0.5,
    },
  ]);
});

it('judges no factor where nothing is lost', () => {
  const none = { median: 0.0002, low: 0.00002, high: 0.001 };
  expect(lossRows([comparison(0, { counted: null, loss: none })])).toMatchObject([
    { loss: 0, counted: null, countedWithin: null, lossWithin: null, burstWithin: null, lossCovered: 1 },
  ]);
  expect(lossRows([comparison(0, { loss: { ...none, low: 0.002 } })])).toMatchObject([{ lossCovered: 0 }]);
});

it('prints a line for each cell and each loss', () => {
  const lines = renderComparisons([comparison(0.01), comparison(0)])
    .trim()
    .split('\n');
  // Head, 2 cells, an empty line, head, 2 losses.
  expect(lines).toHaveLength(7);
});

it('draws the same cells again, the first of a longer list like a shorter one', () => {
  expect(drawCells(10, 3).slice(0, 4)).toEqual(drawCells(4, 3));
  expect(drawCells(5, 3).map(({ network }) => network.loss)).toEqual([0, 0.001, 0.005, 0.01, 0.02]);
});
