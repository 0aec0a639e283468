import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Report } from '../src/report/report.ts';
import { renderTerminal } from '../src/report/terminal.ts';

const none = { predictedMs: null, predictedGivenNetworkMs: null, verifiedMs: null, measuredMs: null };
const network = { rttMs: 60, downMbps: 18, upMbps: 6, loss: 0.003, udp: 'open' };

function rendered(notes: string[]): string {
  const report = {
    mode: 'live',
    page: { name: '', url: 'https://page.test/', requests: 3, origins: 1, bytes: 9000 },
    network: { set: null, estimated: network },
    observed: { pltMs: null, protocols: {} },
    protocols: { h1: none, h2: none, h3: none },
    best: 'h2',
    margin: 0.1,
    confidence: 0.9,
    decided: true,
    reasons: ['Because.'],
    assignedPltMs: 900,
    origins: [],
    warnings: [],
    prediction: { notes },
  } as unknown as Report;
  return stripVTControlCharacters(renderTerminal(report, process.stdout));
}

test('the report says what the prediction left out', () => {
  const note = 'The search for the best mix of protocols was cut short.';
  expect(rendered([note])).toContain(`\n  ${note}\n`);
  expect(rendered([])).not.toContain(note);
});
