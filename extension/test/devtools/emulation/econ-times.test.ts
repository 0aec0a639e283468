import { readLossByWindow } from '@hopwise/pageload-emulator/econ';
import { expect, test } from 'vitest';
import { pageOf, serverOf } from '../../../../pageload-emulator/test/support/pages.ts';
import { type EconTimes, econTimesInSteps } from '../../../src/devtools/emulation/econ-times.ts';

const page = (() => {
  const graph = pageOf([{ bytes: 400_000 }]);
  return { graph, servers: [serverOf(graph.origins[0]!)] };
})();

function timesOf(loss: number, pcwnd: string): EconTimes {
  const steps = econTimesInSteps(
    page,
    {
      network: { rttMs: 100, downMbps: 20, upMbps: 20, loss, lossBurst: 1, queueMs: 100, udp: 'open' },
      servers: {
        ...{ initialWindow: null, startShare: null, congestionControl: null, prioritises: null },
        isConsolidated: false,
      },
    },
    readLossByWindow(pcwnd),
  );
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** 1,000 rounds at windows of 10 and 100 segments, of which so many lost. */
function countsOf(lossEvents: number): string {
  const windows = [10, 100].map((cwnd) => ({ cwnd, rounds: 1_000, packets: 1_000 * cwnd, lossEvents }));
  return JSON.stringify({ format: 'hopwise-pcwnd', version: 1, windows });
}

test('counted loss takes the place of random loss, in both directions', () => {
  const fewer = timesOf(0.03, countsOf(0));
  const more = timesOf(0, countsOf(500));
  for (const protocol of ['h1', 'h2'] as const) {
    expect(fewer.counted[protocol]).toBeLessThan(fewer.random[protocol] - 100);
    expect(more.counted[protocol]).toBeGreaterThan(more.random[protocol] + 100);
  }
});
