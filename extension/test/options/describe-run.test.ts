import { EVERY_ORIGIN } from '@hopwise/contract';
import { expect, test } from 'vitest';
import type { AutopilotRun } from '../../src/autopilot/runs/autopilot-run.ts';
import { describeRun } from '../../src/options/describe-run.ts';

const ACT: AutopilotRun = {
  id: '1',
  madeAtMs: 0,
  pageUrl: 'https://page.test/',
  trigger: 'decision',
  pins: [{ origin: 'https://page.test', kind: 'avoid-h3' }],
  predicted: { beforeMs: 4300, afterMs: 2300 },
  beforeMs: [4200, 4300, 4400],
  afterMs: [],
  lastLoadId: 1,
  state: 'checking',
  end: null,
};
const ended = (cause: NonNullable<AutopilotRun['end']>['cause'], reason = ''): Partial<AutopilotRun> => ({
  state: 'ended',
  end: { atMs: 0, cause, reason },
});

/** No-break spaces stand between numbers and units. */
const describePlain = (more: Partial<AutopilotRun>) =>
  Object.values(describeRun({ ...ACT, ...more })).map((text) => text.replaceAll('\u00a0', ' '));

test.each([
  [{}, ['page.test kept off HTTP/3', 'Predicted: 4.3 s → 2.3 s.', 'Checking: 0 of 5 loads measured.']],
  [
    { afterMs: [2200, 2400], state: 'kept' as const },
    [
      'page.test kept off HTTP/3',
      'Predicted: 4.3 s → 2.3 s.',
      'Measured: 4.3 s → 2.3 s over 3 loads before and 2 after, which saves 2.0 s. Stays.',
    ],
  ],
  [
    { beforeMs: [], afterMs: [2200, 2400], trigger: 'network' as const, state: 'kept' as const },
    [
      'page.test kept off HTTP/3',
      'This network hinders UDP, which HTTP/3 needs.',
      'Measured: 2.3 s over 2 loads, by itself about 4.3 s (estimated). Stays.',
    ],
  ],
  [
    { afterMs: [2200], state: 'kept' as const, spared: { origin: 'https://images.test', loads: 1 } },
    [
      'page.test kept off HTTP/3',
      'Predicted: 4.3 s → 2.3 s.',
      'Measured: 4.3 s → 2.2 s over 3 loads before and 1 after, which saves 2.1 s. Stays, but for images.test: HTTP/3 is allowed there for a few loads, to see whether UDP is still hindered.',
    ],
  ],
  [
    {
      pins: [{ origin: EVERY_ORIGIN, kind: 'avoid-h3' as const }],
      trigger: 'network' as const,
      predicted: null,
      beforeMs: [],
      ...ended('network-open'),
    },
    [
      'HTTP/3 off on this network',
      'This network hinders UDP, which HTTP/3 needs.',
      'Undone, because the network no longer hinders UDP.',
    ],
  ],
  [
    { afterMs: [6000], ...ended('slower') },
    [
      'page.test kept off HTTP/3',
      'Predicted: 4.3 s → 2.3 s.',
      'Measured: 4.3 s → 6.0 s over 3 loads before and 1 after, which costs 1.7 s. Undone, because loads took longer than before.',
    ],
  ],
  [
    {
      trigger: 'rule' as const,
      predicted: null,
      pins: ['a', 'b', 'c'].map((name) => ({ origin: `https://${name}.test`, kind: 'h2' as const })),
      ...ended('trouble', 'The helper stopped.'),
    },
    [
      'a.test and 2 other origins held to HTTP/2',
      'Your rule for this site.',
      'Undone at once, because it failed: The helper stopped.',
    ],
  ],
  [
    ended('refused', 'this browser uses a proxy'),
    [
      'page.test could not be kept off HTTP/3',
      'Predicted: 4.3 s → 2.3 s.',
      'Not done: this browser uses a proxy.',
    ],
  ],
])('%j is described', (more, texts) => {
  expect(describePlain(more)).toEqual(texts);
});
