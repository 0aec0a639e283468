import { stripVTControlCharacters } from 'node:util';
import type { Assignment } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { describeAssignment, type Report } from '../src/report/report.ts';
import { renderTerminal } from '../src/report/terminal.ts';

const none = { predictedMs: null, predictedGivenNetworkMs: null, verifiedMs: null, measuredMs: null };
const network = { rttMs: 60, downMbps: 18, upMbps: 6, loss: 0.003, udp: 'open' };

const live = {
  mode: 'live',
  page: { name: '', url: 'https://page.test/', requests: 3, origins: 1, bytes: 9000 },
  network: { set: null, estimated: network },
  observed: { pltMs: null, protocols: {} },
  protocols: { h1: none, h2: none, h3: none },
  baseline: { protocols: {}, measuredMs: null },
  assignment: { protocols: {}, predictedMs: { median: 900, low: 800, high: 1000 }, measuredMs: null },
  best: 'h2',
  margin: 0.1,
  confidence: 0.9,
  decided: true,
  reasons: ['Because.'],
  origins: [],
  warnings: [],
  prediction: { notes: [] },
};
const loads = (median: number, n = 3) => ({
  median,
  low: median - 100,
  high: median + 100,
  n,
  spread: 'min-max',
  proved: 210,
  requests: 210,
});

const rendered = (changes: object): string =>
  stripVTControlCharacters(renderTerminal({ ...live, ...changes } as unknown as Report, process.stdout));

test('the report says what the prediction left out', () => {
  const note = 'The search for the best mix of protocols was cut short.';
  expect(rendered({ prediction: { notes: [note] } })).toContain(`\n  ${note}\n`);
  expect(rendered({})).not.toContain(note);
});

const inLab = {
  mode: 'lab',
  protocols: { h1: none, h2: none, h3: { ...none, measuredMs: loads(6000, 1) } },
  baseline: { protocols: { h2: 105, h3: 105 }, measuredMs: loads(4050) },
  assignment: { ...live.assignment, measuredMs: loads(1550) },
};

test('the browser’s own choice and hopwise’s assignment are rows, and their measured loads give the last line', () => {
  const text = rendered(inLab);
  expect(text).toMatch(/^the browser's own choice +– +– +4\.05 s \(3\.95 s – 4\.15 s\)$/m);
  expect(text).toMatch(/^HTTP\/3 +– +– +6\.00 s \(once\)$/m);
  expect(text).toMatch(
    /^hopwise's assignment +900 ms \(800 ms – 1\.00 s\) +– +1\.55 s \(1\.45 s – 1\.65 s\)$/m,
  );
  // 1550 / 4050 − 1 = −0.617
  expect(text.trimEnd().split('\n').at(-1)).toBe("hopwise's assignment: 4.05 s → 1.55 s measured (−62%)");
});

test('a loss is said as plainly as a gain', () => {
  // 4172 / 4050 − 1 = 0.030
  const slower = { ...inLab, assignment: { ...live.assignment, measuredMs: loads(4172) } };
  expect(rendered(slower)).toContain("hopwise's assignment: 4.05 s → 4.17 s measured (+3%)");
});

test('without a measured load of both there is no gain, and the reason is given', () => {
  const text = rendered({ ...inLab, baseline: { protocols: {}, measuredMs: { unavailable: 'no answer' } } });
  expect(text).not.toContain('→');
  expect(text).toContain("the browser's own choice is unavailable (measured): no answer");
  expect(rendered({})).not.toContain('→');
  expect(rendered({})).not.toContain("the browser's own choice");
});

test('an assignment is described by how many origins have which protocol', () => {
  const on = (protocols: string) =>
    Object.fromEntries(protocols.split(' ').map((protocol, index) => [`https://${index}.test`, protocol]));
  expect(describeAssignment(on('h1 h2 h2') as Assignment)).toBe('HTTP/2 on 2 origins, HTTP/1.1 on 1');
  expect(describeAssignment(on('h3') as Assignment)).toBe('HTTP/3 on 1 origin');
});
