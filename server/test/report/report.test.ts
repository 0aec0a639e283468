import { expect, it } from 'vitest';
import { WindowController } from '../../src/learn/window-controller.ts';
import { renderReport } from '../../src/report/report.ts';

it('shows each window of each cluster over the usual one', () => {
  const controller = new WindowController([10, 20], 'p80', () => 0.5);
  controller.countConnection('cluster', 0);
  for (let client = 0; client < 10; client++) {
    const { window, reason } = controller.choose('cluster');
    const transferMs = window === 10 ? 200 : 100;
    const sample = { window, transferMs, bytes: 1e5, segments: 70, retransmitted: 7, timedOut: false };
    controller.note({ client: String(client), narrow: 'cluster', cluster: 'cluster' }, reason, sample);
  }
  const page = renderReport(controller.state);
  const row = (...texts: (string | number)[]) => texts.map((text) => `<td>${text}</td>`).join('');
  expect(page).toContain(row('cluster', 10, 5, '1.00', '10.0%', '0.0%'));
  expect(page).toContain(row('cluster', 20, 5, '0.50', '10.0%', '0.0%'));
  expect(page.match(/<svg/g)).toHaveLength(2);
  expect(page).not.toContain('<script');
});

it('says so where nothing was learned yet', () => {
  expect(renderReport({ explorer: {}, clusters: {} })).toContain('Nothing was learned yet.');
});
