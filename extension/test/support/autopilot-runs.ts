import type { AutopilotRun } from '../../src/autopilot/runs/autopilot-run.ts';

export const ORIGIN = 'https://page.test';

/** A run that was just started for a decision about a page, with one pin. */
export const runOf = (more: Partial<AutopilotRun> = {}): AutopilotRun => ({
  id: crypto.randomUUID(),
  madeAtMs: Date.now(),
  pageUrl: `${ORIGIN}/`,
  trigger: 'decision',
  pins: [{ origin: ORIGIN, kind: 'avoid-h3' }],
  predicted: { beforeMs: 2000, afterMs: 1000 },
  beforeMs: [2000],
  afterMs: [],
  networkKey: null,
  lastLoadId: 1,
  state: 'checking',
  end: null,
  ...more,
});
