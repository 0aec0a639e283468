import { networkPosterior } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const ORIGINS = ['https://www.test', 'https://media.test'];

describe('a video that arrives as it is played', () => {
  it('is no sign of losses', () => {
    const images = Array.from({ length: 30 }, () => ({ bytes: 20_000, after: [0] }));
    const parts = Array.from({ length: 5 }, (_, index) => ({
      origin: 1,
      bytes: 1_000_000,
      bodyMs: 5_000,
      after: [index],
    }));
    const page = pageOf([{ bytes: 30_000 }, ...parts, ...images], ORIGINS);
    for (const activity of page.activities.slice(1, 6))
      Object.assign(activity, { type: 'media', blocksLoad: false });
    const servers = ORIGINS.map((origin) => serverOf(origin));
    const path = pathOf({ rttMs: 40, downBps: 30e6, loss: 0 });
    const { path: read } = networkPosterior(recordLoad(page, path, servers, uniform(page, 'h2')));
    expect(read.loss).toBeLessThan(0.002);
  });
});
