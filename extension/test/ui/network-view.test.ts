import { learnNetwork, measuredBy, predict } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { VERIFICATION } from '../../../pageload-emulator/test/support/verification.ts';
import { listFigures } from '../../src/ui/network-view.ts';
import { loadOf, START_MS } from '../evidence/stored-loads.ts';

test.each([
  ['blocked' as const, 'blocked', 'estimated'],
  ['open' as const, 'open', 'estimated'],
  ['unknown' as const, 'open', 'assumed'],
])('what a verification showed of UDP (%s) is stated of the next load as well', (verdict, udp, from) => {
  const verification = { ...VERIFICATION, udp: { ...VERIFICATION.udp, verdict } };
  const measured = measuredBy(verification);
  const figuresOf = (options: Parameters<typeof predict>[1]) =>
    listFigures(predict(loadOf(1).recording, options).network).find(([name]) => name === 'UDP');
  expect(figuresOf({ measured })).toEqual(['UDP', udp, measured.udp ? 'measured' : 'assumed']);
  const cluster = learnNetwork(null, loadOf(0).recording, START_MS, measured);
  expect(figuresOf({ cluster })).toEqual(['UDP', udp, from]);
});
