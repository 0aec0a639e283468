/** The icon's number after a load is shown in popup or panel. */
import type { Prediction } from '@hopwise/contract';
import { expect, test, vi } from 'vitest';
import { ensurePrediction } from '../../src/background/ensure-prediction.ts';
import { findLoad } from '../../src/background/find-load.ts';
import { PageRequestHandler } from '../../src/background/page-request-handler.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { actionOf, decisionOf } from '../support/decisions.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import '../support/own-database.ts';

vi.mock('../../src/background/find-load.ts');
vi.mock('../../src/background/ensure-prediction.ts');

const ORIGIN = 'https://page.test';

test.each<[string, Partial<StoredLoad>, string]>([
  ['is that of the load, which popup and panel show', {}, '−2s'],
  ['stays where pins are in force, as it is then', { pinned: { [ORIGIN]: 'h2' } }, 'before'],
])('%s', async (_, more, shown) => {
  let text = 'before';
  const action = {
    setBadgeText: async (badge: { text: string }) => {
      text = badge.text;
    },
    setBadgeBackgroundColor: async () => undefined,
    setTitle: async () => undefined,
  };
  vi.stubGlobal('chrome', {
    action,
    i18n: { getUILanguage: () => 'en-GB' },
    runtime: { getURL: (path: string) => path },
  });
  vi.stubGlobal('fetch', fetchMessages);
  const parts = {
    autopilot: { readReferences: async () => () => null },
    detailedLoads: { watch: () => undefined },
    pins: { listPins: async () => [] },
    resting: { watch: async () => undefined },
  };
  const handler = new PageRequestHandler(
    parts as unknown as ConstructorParameters<typeof PageRequestHandler>[0],
  );
  const load = loadOf(1, { isDetailed: true, ...more });
  const found = { ok: true, phase: 'recorded', problem: '', loadId: 1, load } as const;
  vi.mocked(findLoad).mockResolvedValue({
    ...found,
    canExportQueries: false,
    incomplete: null,
    pinGain: null,
  });
  const time = { pltMs: 2300, low: 2300, high: 2300 };
  const decision = decisionOf([actionOf('avoid-h3', { [ORIGIN]: 'h2' }, { time })]);
  vi.mocked(ensurePrediction).mockResolvedValue({ ...load, prediction: { decision } as Prediction });
  expect(await handler.handle({ type: 'latest', tabId: 1 })).toMatchObject({ ok: true });
  expect(text).toBe(shown);
});
