import type { Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { estimateNetwork } from '../../src/estimate/estimate-network.ts';
import { fitRecording } from '../../src/estimate/fit-recording.ts';
import { weighLossByLoadTime } from '../../src/estimate/loss-by-load-time.ts';
import { posteriorInput } from '../../src/estimate/posterior-input.ts';
import { type LogDensity, logNormal } from '../../src/network/log-density.ts';
import { LOSS_PRIOR } from '../../src/network/priors.ts';
import { pageOf, pathOf, uniform } from '../support/pages.ts';
import { randomServers, recordLoad } from '../support/synthetic-loads.ts';

const OPEN = pathOf({ rttMs: 40, downBps: 30e6, queueBytes: 500_000 });

describe('losses that replays show', () => {
  const files = Array.from({ length: 20 }, () => ({ bytes: 150_000, after: [0] }));
  const page = pageOf([{ bytes: 30_000 }, ...files]);
  const servers = randomServers(page, 4);
  const recording = recordLoad(page, OPEN, servers, uniform(page, 'h2'));
  const shown = LOSS_PRIOR.given((rate) => logNormal(rate, 0.04, 0.3));
  const lossOf = (loaded: Recording, loss: LogDensity) => {
    const estimate = estimateNetwork(loaded);
    const input = posteriorInput(loaded, {}, estimate);
    const fit = { ...fitRecording(input, OPEN.rttMs, () => OPEN), loss };
    return weighLossByLoadTime(input, fit, () => OPEN).quantile(0.5);
  };

  it('are doubted where the whole page would take several times as long with them', () => {
    expect(lossOf(recording, shown)).toBeLessThan(0.75 * shown.quantile(0.5));
  });

  it('are kept where the load took as long', () => {
    const lossy = recordLoad(page, { ...OPEN, loss: 0.04 }, servers, uniform(page, 'h2'));
    expect(lossOf(lossy, shown)).toBeGreaterThan(0.9 * shown.quantile(0.5));
  });
});
