import { stripVTControlCharacters } from 'node:util';
import type { Report } from '@hopwise/extension/report';
import { expect, test } from 'vitest';
import { renderTerminal } from '../../src/report/terminal.ts';

const none = { predictedMs: null, predictedGivenNetworkMs: null, verifiedMs: null, measuredMs: null };
const network = { rttMs: 60, downMbps: 18, upMbps: 6, loss: 0.003, udp: 'open' };

const live = {
  mode: 'live',
  page: { name: '', url: 'https://page.test/', requests: 3, origins: 1, bytes: 9000 },
  network: { set: null, estimated: network },
  observed: { pltMs: null, protocols: {} },
  protocols: { h1: none, h2: none, h3: none },
  baseline: {
    protocols: {},
    predictedMs: { median: 2000, low: 1800, high: 2300 },
    verifiedMs: null,
    measuredMs: null,
  },
  assignment: {
    protocols: {},
    predictedMs: { median: 900, low: 800, high: 1000 },
    verifiedMs: null,
    measuredMs: null,
  },
  decision: {
    kind: 'act',
    verdict: 'Keep cdn.test off HTTP/3: 4.1 s → 1.6 s (measured)',
    evidence: [{ kind: 'emulation', text: 'HTTP/2 is the fastest.' }],
    changed: null,
    action: { kind: 'avoid-h3', origins: ['https://cdn.test'], assignment: { 'https://cdn.test': 'h2' } },
  },
  reasons: ['Because.'],
  origins: [],
  warnings: [],
  prediction: { notes: [], decision: { action: { kind: 'avoid-h3' } } },
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
  expect(rendered({ prediction: { ...live.prediction, notes: [note] } })).toContain(`\n  ${note}\n`);
  expect(rendered({})).not.toContain(note);
});

const inLab = {
  mode: 'lab',
  protocols: { h1: none, h2: none, h3: { ...none, measuredMs: loads(6000, 1) } },
  baseline: { ...live.baseline, protocols: { h2: 105, h3: 105 }, measuredMs: loads(4050) },
  assignment: { ...live.assignment, measuredMs: loads(1550) },
};

test('the verdict is the first line and the last one', () => {
  const lines = rendered(inLab).trim().split('\n');
  expect(lines[0]).toBe('Keep cdn.test off HTTP/3: 4.1 s → 1.6 s (measured).');
  expect(lines.at(-1)).toBe(lines[0]);
  expect(lines).toContain('  HTTP/2 is the fastest.');
});

test('the browser’s own choice and hopwise’s action are rows', () => {
  const text = rendered(inLab);
  expect(text).toMatch(
    /^the browser's own choice +2\.0 s \(1\.8 s – 2\.3 s\) +– +4\.0 s \(4\.0 s – 4\.2 s\)$/m,
  );
  expect(text).toMatch(/^HTTP\/3 +– +– +6\.0 s \(1 run\)$/m);
  expect(text).toMatch(/^hopwise's action +0\.9 s \(0\.8 s – 1\.0 s\) +– +1\.6 s \(1\.4 s – 1\.6 s\)$/m);
});

test('no loss of a network is called none, as in the views', () => {
  const estimated = { ...network, loss: 0.000_096 };
  expect(rendered({ network: { set: null, estimated } })).toContain(', loss none, UDP open\n');
  expect(rendered({})).toContain(', loss 0.3%, UDP open\n');
});

test('an answer without an action has no row for it', () => {
  const prediction = { ...live.prediction, decision: { action: { kind: 'leave' } } };
  expect(rendered({ ...inLab, prediction })).not.toContain("hopwise's action");
});

test('a row without times gives the reason', () => {
  const text = rendered({
    ...inLab,
    baseline: { ...live.baseline, measuredMs: { unavailable: 'no answer' } },
  });
  expect(text).toContain("the browser's own choice is unavailable (measured): no answer");
});

/** Two origins that the browser loads over HTTP/2, of which the second is `decided` to stay there. */
const ORIGINS = ['cdn', 'b'].map((name) => ({
  origin: `https://${name}.test`,
  protocol: 'h2',
  requests: 2,
  bytes: 1000,
  decided: name === 'b',
  reason: '',
}));
const decided = (action: object) => ({
  ...live.decision,
  baseline: { pltMs: 4050, protocols: { 'https://cdn.test': 'h3', 'https://b.test': 'h2' } },
  actions: [],
  action: { ...live.decision.action, time: { pltMs: 1550 }, helps: 0.9, ...action },
});

test('origins are listed as in the views: those of the action and those that are to stay', () => {
  expect(rendered({ origins: ORIGINS, decision: decided({}) })).toContain(
    '  https://cdn.test  2 requests  avoid HTTP/3\n  https://b.test    2 requests  leave on HTTP/2\n',
  );
});

test('origins that do not matter are one line, as in the views', () => {
  const leave = { ...decided({ kind: 'leave', origins: [], assignment: {} }), kind: 'leave' };
  const text = rendered({ origins: ORIGINS, decision: leave });
  expect(text).toContain('  Nothing worth changing at 1 of 2 origins\n');
  expect(text).not.toContain('https://cdn.test');
  const undecided = ORIGINS.map((origin) => ({ ...origin, decided: false }));
  expect(rendered({ origins: undecided, decision: leave })).toContain(
    '  Nothing worth changing at any of 2 origins\n',
  );
});
