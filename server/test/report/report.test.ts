import { expect, it } from 'vitest';
import { WindowController } from '../../src/learn/window-controller.ts';
import { renderReport } from '../../src/report/report.ts';
import { summariseClusters } from '../../src/report/summarise-clusters.ts';

it('shows each window of each cluster over the usual one', () => {
  const controller = new WindowController([10, 20], 'p80', () => 0.5);
  controller.countConnection('cluster', 0);
  for (let client = 0; client < 10; client++) {
    const { window, reason } = controller.choose('cluster');
    const transferMs = window === 10 ? 200 : 100;
    const sample = { window, transferMs, bytes: 1e5, segments: 70, retransmitted: 7, timedOut: false };
    controller.note({ client: String(client), narrow: 'cluster', cluster: 'cluster' }, reason, sample);
  }
  const [windows] = summariseClusters(controller.state);
  expect(windows).toEqual([
    {
      cluster: 'cluster',
      window: 10,
      connections: 5,
      p80Ratio: 1,
      retransmitted: expect.closeTo(0.1),
      timedOut: 0,
    },
    {
      cluster: 'cluster',
      window: 20,
      connections: 5,
      p80Ratio: expect.closeTo(0.5),
      retransmitted: expect.closeTo(0.1),
      timedOut: 0,
    },
  ]);
  const page = renderReport(controller.state);
  expect(page).toContain('<td>0.50</td>');
  expect(page.match(/<svg/g)).toHaveLength(3);
  expect(page).not.toContain('<script');
});

it('says so where nothing was learned yet', () => {
  expect(renderReport({ explorer: {}, clusters: {} })).toContain('Nothing was learned yet.');
});
