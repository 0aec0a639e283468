import { type NetworkPath, type Prediction, predict, type Recording } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { drawShare } from '../../../../scripts/suites/draw-share.ts';
import { english } from '../../../src/explain/sentences/english.ts';
import { german } from '../../../src/explain/sentences/german.ts';
import { pathOf } from '../../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../../support/synthetic-loads.ts';
import { VERIFICATION } from '../../support/verification.ts';

const PATHS: NetworkPath[] = [
  pathOf({ rttMs: 60, downBps: 20e6 }),
  pathOf({ rttMs: 60, downBps: 20e6, udp: { kind: 'policed', bps: 1e6 } }),
  pathOf({ rttMs: 120, downBps: 5e6, loss: 0.03 }),
  pathOf({ rttMs: 30, downBps: 10e6, udp: { kind: 'blocked' } }),
];

function recorded(path: NetworkPath, seed: number): Recording {
  const graph = randomPage(seed);
  const over = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
  const recording = recordLoad(graph, path, randomServers(graph, seed), over, seed);
  return { ...recording, requests: recording.requests.map((request) => ({ ...request, offersH3: true })) };
}

const sentencesOf = ({ decision, reasons, notes, assigned, origins, protocols }: Prediction): string[] => [
  decision.verdict,
  ...decision.evidence.map(({ text }) => text),
  decision.changed ?? '',
  ...reasons,
  ...notes,
  assigned.reason,
  ...origins.map(({ reason }) => reason),
  ...Object.values(protocols).map((time) => ('unavailable' in time ? time.unavailable : '')),
];

const CASES = PATHS.flatMap((path, index) =>
  drawShare([1, 2, 3], 1, (seed) => `${index} ${seed}`).map((seed) => ({ path, seed })),
);

it.each(CASES)(
  'predicts alike in German, with sentences of its own: page $seed, $path.rttMs ms',
  ({ path, seed }) => {
    const recording = recorded(path, seed);
    const earlier = predict(recording).decision;
    const knowledge = {
      verification: VERIFICATION,
      loads: [{ under: 'browser' as const, pltMs: [2000, 2400], ageMs: 0 }],
      earlier: { ...earlier, action: { ...earlier.action, origins: ['https://before.test'] } },
    };
    const { lossBurst: _, ...network } = path;
    const inEnglish = predict(recording, { network, knowledge });
    const inGerman = predict(recording, { network, knowledge, language: 'de' });
    expect(inGerman.protocols.h1).toEqual(inEnglish.protocols.h1);
    expect(inGerman.decision.action).toEqual(inEnglish.decision.action);
    const [ours, theirs] = [sentencesOf(inGerman), sentencesOf(inEnglish)];
    expect(ours.length).toBe(theirs.length);
    for (const sentence of ours) {
      // The earlier verdict is quoted as it was worded.
      if (sentence.startsWith('Zuvor lautete')) continue;
      expect(sentence).not.toMatch(/\b(the|is|are|and|on|with|its|it|packets?|requests?|leave)\b/i);
    }
  },
);

it('writes numbers and plurals as each language does', () => {
  expect(english.verdict.effect('Leave it', 4280, 2340, 'measured')).toBe(
    'Leave it: 4.3 s → 2.3 s (measured)',
  );
  expect(german.verdict.effect('Nichts ändern', 4280, 2340, 'sure')).toBe(
    'Nichts ändern: 4,3 s → etwa 2,3 s (sicher)',
  );
  expect(german.evidence.loads(1, 'browser', 1200, 1200)).toBe(
    '1 gemessener Ladevorgang ohne Festlegungen dauerte 1,2 s.',
  );
  expect(german.evidence.loads(3, 'h2', 1200, 1400)).toBe(
    '3 gemessene Ladevorgänge mit Festlegung auf HTTP/2 dauerten 1,2 s bis 1,4 s.',
  );
  expect(
    german.evidence.comparison(['h1', 'h2'], [{ protocol: 'h3', ratio: 2.54 }], 'other', 'decided'),
  ).toBe('HTTP/1.1 und HTTP/2 sind hier etwa gleich schnell; HTTP/3 braucht 2,5-mal so lange.');
  expect(german.causes.oneOfManyClause(6, 1, 'h2')).toBe(
    'Ein verlorenes Paket bremst eine von 6 Verbindungen statt der einzigen: Bei HTTP/2 ging 1 Paket verloren.',
  );
  expect(german.causes.lostClause(4, 'h2', 0, 'h3')).toBe(
    'Bei HTTP/2 gingen 4 Pakete verloren, bei HTTP/3 0.',
  );
  expect(german.causes.holdup(1, true, 'cdn.test', 'h2', 180.4)).toBe(
    '1 kleine Datei von cdn.test wartet bei HTTP/2 hinter einem verlorenen Paket, bis zu 180 ms.',
  );
});
