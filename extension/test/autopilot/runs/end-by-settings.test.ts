import { expect, test } from 'vitest';
import { findEndBySettings } from '../../../src/autopilot/runs/end-by-settings.ts';
import {
  AUTOPILOT_DEFAULTS,
  type AutopilotSettings,
} from '../../../src/autopilot/settings/autopilot-settings.ts';
import { NETWORK_PIN } from '../../../src/autopilot/settings/network-rule.ts';
import { ORIGIN, runOf } from '../../support/autopilot-runs.ts';

const ON = { ...AUTOPILOT_DEFAULTS, isOn: true };
const HOLDING = runOf({ pins: [{ origin: ORIGIN, kind: 'h2' }] });
const ofNetwork = runOf({ trigger: 'network', pins: [NETWORK_PIN] });
const ruledBy = (rule: AutopilotSettings['siteRules'][number]['rule']) => [{ site: 'page.test', rule }];

const findAfter = (run: typeof HOLDING, change: Partial<AutopilotSettings>) =>
  findEndBySettings(run, { ...ON, ...change }, change);

test('switched off, it ends all but what the user keeps off a network', () => {
  const networkRules = [{ network: '', keepsOffH3: true }];
  expect(findAfter(runOf(), { isOn: false, networkRules })).toBe('off');
  expect(findAfter(ofNetwork, { isOn: false, networkRules })).toBeNull();
  expect(findAfter(ofNetwork, { isOn: false })).toBe('off');
});

test('what it may no longer do ends, and nothing else', () => {
  const trial = runOf({ trigger: 'trial' });
  expect([findAfter(HOLDING, {}), findAfter(HOLDING, { holdsProtocols: true })]).toEqual(['off', null]);
  expect([findAfter(trial, {}), findAfter(trial, { explores: true })]).toEqual(['off', null]);
  expect([findAfter(runOf(), {}), findAfter(ofNetwork, {})]).toEqual([null, null]);
});

test('a rule of the user’s ends what does otherwise, and its own run ends with it', () => {
  expect(findAfter(runOf(), { siteRules: ruledBy('leave') })).toBe('rule');
  expect(findAfter(runOf(), { siteRules: ruledBy('avoid-h3') })).toBeNull();
  const byRule = runOf({ trigger: 'rule', pins: [{ origin: ORIGIN, kind: 'h2' }] });
  expect(findAfter(byRule, { siteRules: ruledBy('h2') })).toBeNull();
  expect(findAfter(byRule, { siteRules: [] })).toBe('rule');
});

test('what a rule for traffic asked for is decided anew once these rules have changed', () => {
  const byTraffic = runOf({ trigger: 'traffic' });
  expect([findAfter(byTraffic, { trafficRules: [] }), findAfter(byTraffic, { minGain: 0.2 })]).toEqual([
    'rule',
    null,
  ]);
});
