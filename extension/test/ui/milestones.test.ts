import { predict } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeMilestone, listMilestones } from '../../src/ui/milestones.ts';
import { predictedWaterfall, recordedWaterfall } from '../../src/ui/waterfall.ts';
import { largePage } from '../support/large-page.ts';

const recording = { ...largePage(30), largestContentfulPaintMs: 240 };

test('a recorded load has those that the browser reported', () => {
  expect(recordedWaterfall(recording).milestones).toEqual([
    { kind: 'dcl', ms: 200 },
    { kind: 'fcp', ms: 220 },
    { kind: 'lcp', ms: 240 },
    { kind: 'load', ms: recording.pltMs },
  ]);
  expect(
    listMilestones({ pltMs: null, firstContentfulPaintMs: null, largestContentfulPaintMs: null }),
  ).toEqual([]);
});

test('an emulated load has its paints, of the same emulation as its rows, and no DOMContentLoaded', () => {
  const prediction = predict(recording, { waterfall: true });
  const time = prediction.emulated.protocols.h2;
  if ('unavailable' in time) throw new Error(time.unavailable);
  expect(predictedWaterfall(recording, prediction, 'h2')!.milestones).toEqual([
    { kind: 'fcp', ms: time.firstContentfulPaintMs },
    { kind: 'lcp', ms: time.largestContentfulPaintMs },
    { kind: 'load', ms: time.pltMs },
  ]);
});

test('are named with what people call them', () => {
  expect(describeMilestone({ kind: 'fcp', ms: 220 })).toBe('First Contentful Paint (FCP) 220 ms');
  expect(describeMilestone({ kind: 'load', ms: 1200 })).toBe('load event 1.2 s');
});

describe('the list of a load', () => {
  let renderMilestones: typeof import('../../src/devtools/waterfall/milestone-list.ts').renderMilestones;
  beforeEach(async () => {
    vi.stubGlobal('document', new Window().document);
    ({ renderMilestones } = await import('../../src/devtools/waterfall/milestone-list.ts'));
  });
  afterEach(() => vi.unstubAllGlobals());

  const linesOf = (list: HTMLElement) =>
    [...list.querySelectorAll('li')].map((item) =>
      [...item.querySelectorAll('span:not(.hw-swatch)')].map(({ textContent }) =>
        textContent.replaceAll('\u00a0', ' '),
      ),
    );

  test('has both times, and whole names for screen readers', () => {
    const milestones = recordedWaterfall(recording).milestones.slice(0, 2);
    const compared = { name: 'the load over HTTP/2', milestones: [{ kind: 'fcp' as const, ms: 190 }] };
    expect(linesOf(renderMilestones(milestones, compared))).toEqual([
      ['DCL 200 ms', 'DOMContentLoaded: 200 ms'],
      ['FCP 220 ms → 190 ms', 'First Contentful Paint: 220 ms, 190 ms in the load over HTTP/2'],
    ]);
  });
});
