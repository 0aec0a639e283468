import { explain, type Prediction, type ProtocolExplanation } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { formatDurations } from '../../../src/ui/format.ts';
import { largePage } from '../../support/large-page.ts';

let chain: typeof import('../../../src/devtools/graph/critical-chain.ts');

beforeEach(async () => {
  vi.stubGlobal('document', new Window().document);
  chain = await import('../../../src/devtools/graph/critical-chain.ts');
});
afterEach(() => vi.unstubAllGlobals());

const step = { activity: 0, kind: 'fetch' as const, url: 'https://page.test/' };

test('steps of one request that follow each other are one step of the chain', () => {
  const path = [
    { ...step, requestId: 0, fromMs: 0, toMs: 100, causes: { connect: 60, transfer: 40 } },
    { ...step, requestId: 1, fromMs: 100, toMs: 300, causes: { server: 200 } },
    { ...step, requestId: 1, fromMs: 300, toMs: 350, causes: { script: 50 } },
    { ...step, requestId: 0, fromMs: 350, toMs: 360, causes: { script: 10 } },
  ];
  expect(
    chain.joinSteps(path).map(({ requestId, fromMs, toMs, causes }) => [requestId, fromMs, toMs, causes]),
  ).toEqual([
    [0, 0, 100, { connect: 60, transfer: 40 }],
    [1, 100, 350, { server: 200, script: 50 }],
    [0, 350, 360, { script: 10 }],
  ]);
});

describe('the chain of a load', () => {
  const recording = largePage(40);
  const predictionOf = (pltMs: number) =>
    ({ protocols: { h2: { pltMs } } }) as unknown as Pick<Prediction, 'protocols'>;
  const show = (
    explained: Pick<ProtocolExplanation, 'criticalPath' | 'explainedPltMs'>,
    predictedMs = explained.explainedPltMs,
  ) => chain.renderCriticalChain(recording, predictionOf(predictedMs), explained, 'h2', () => undefined);
  const headlineOf = (view: HTMLElement) =>
    view.querySelector('.hw-chain-headline')!.textContent.replaceAll('\u00a0', ' ');

  test.each([
    [2034, 2040, 'One emulated load over HTTP/2 takes 2.0 s. It waits longest for page.test: 1.9 s.'],
    [
      2034,
      2310,
      'Predicted over HTTP/2: 2.3 s. One emulated load takes 2.0 s. It waits longest for page.test: 1.9 s.',
    ],
  ])(
    'of %i ms names the %i ms that are predicted where they look different',
    (explainedPltMs, pltMs, text) => {
      const criticalPath = [
        { ...step, requestId: 0, fromMs: 0, toMs: 1900, causes: { server: 1900 } },
        { ...step, requestId: 1, fromMs: 1900, toMs: explainedPltMs, causes: { transfer: 134 } },
      ];
      expect(headlineOf(show({ criticalPath, explainedPltMs }, pltMs))).toBe(text);
    },
  );

  test('names the prediction’s time and the load’s, to which its steps add up', () => {
    const { protocols } = explain(recording);
    const explained = protocols.h2 as ProtocolExplanation;
    const { criticalPath, explainedPltMs } = explained;
    // What the views show may rest on more than this emulation: its own time is not said.
    const pltMs = 1.2 * explained.pltMs;
    const lengths = criticalPath.map(({ fromMs, toMs }) => toMs - fromMs);
    expect(lengths.reduce((sum, length) => sum + length)).toBeCloseTo(explainedPltMs, 6);
    for (const time of formatDurations(pltMs, explainedPltMs)) {
      expect(headlineOf(show(explained, pltMs))).toContain(time);
    }
  });

  test('of a page of 600 requests is what fits a window, from navigation to load event', () => {
    const large = largePage(600);
    const explained = explain(large, { seeds: 4 }).protocols.h2 as ProtocolExplanation;
    const view = chain.renderCriticalChain(large, predictionOf(900), explained, 'h2', () => undefined);
    const rows = [...view.querySelectorAll('.hw-critical-step')];
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.length).toBeLessThan(30);
    for (const row of rows) expect(row.querySelector('.hw-step-causes')!.textContent).toMatch(/^\d.*\sm?s\s/);
  });

  test('opens a request where its row is clicked, once', () => {
    const chosen: number[] = [];
    const causes = { transfer: 100 };
    const criticalPath = [
      { ...step, requestId: 3, fromMs: 0, toMs: 100, causes },
      { ...step, requestId: 5, fromMs: 100, toMs: 200, causes },
    ];
    const explained = { criticalPath, explainedPltMs: 200 };
    const view = chain.renderCriticalChain(recording, predictionOf(200), explained, 'h2', (id) =>
      chosen.push(id),
    );
    for (const part of ['.hw-step-causes', 'button']) {
      view.querySelectorAll<HTMLElement>(part)[1]!.click();
    }
    expect(chosen).toEqual([5, 5]);
  });
});
