import { predict } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { buildReport, type Findings, type RepeatedSpread } from '../../src/report/report.ts';
import { largePage } from '../support/large-page.ts';

const recording = largePage(20);
const prediction = predict(recording);
const loads: RepeatedSpread = {
  ...{ median: 400, low: 390, high: 420, n: 3, spread: 'min-max' },
  ...{ proved: 60, requests: 60 },
};
const kindsOf = (measured: Findings['measured']) =>
  buildReport({
    ...{ mode: 'lab', pageName: 'page', networkAsSet: null, recording, prediction },
    ...{ predictionFromRecording: prediction, predictionGivenNetwork: null, verification: null, measured },
    ...{ decision: prediction.decision, naturalProtocols: null, warnings: [], elapsedMs: null },
  }).decision.evidence.map(({ kind }) => kind);

test('a report compares predicted times only where no protocol was measured', () => {
  expect(kindsOf(null)).toContain('emulation');
  expect(kindsOf({ natural: loads })).toContain('emulation');
  expect(kindsOf({ natural: loads, h1: { unavailable: 'no load succeeded' } })).toContain('emulation');
  expect(kindsOf({ natural: loads, h1: loads, h2: loads })).not.toContain('emulation');
});
