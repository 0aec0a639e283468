import {
  buildGraph,
  estimateNetwork,
  InputError,
  parseRecording,
  type Recording,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../scripts/suites/draw-share.ts';
import { mutatedText, VALID } from './support/mutations.ts';

/** Place in the file, expectation, finding. */
const COMPLAINT = /^[^\n]+: expected [^\n]+, got [^\n]+$/;

/** Parses a text; null when it was refused in one line. */
function readOrRefused(text: string): Recording | null {
  try {
    return parseRecording(text);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toMatch(COMPLAINT);
    return null;
  }
}

/** Checks the invariants that all readers of a recording rely on. */
function expectSound(recording: Recording): void {
  const { requests } = recording;
  expect(requests.length).toBeGreaterThan(0);
  let before = Number.NEGATIVE_INFINITY;
  for (const [index, request] of requests.entries()) {
    expect(request.id).toBe(index);
    expect(request.startMs).toBeGreaterThanOrEqual(before);
    expect(request.endMs).toBeGreaterThanOrEqual(request.startMs);
    expect(request.initiator.requestId ?? -1).toBeLessThan(index);
    before = request.startMs;
  }
  // Numbers that JSON does not have, or a field that is missing, would not come back the same.
  expect(parseRecording(JSON.stringify(recording))).toEqual(recording);
}

function expectInputs(recording: Recording): void {
  for (const activity of buildGraph(recording).activities) {
    for (const { activity: before, fraction, source } of activity.after) {
      expect(before).toBeLessThan(activity.id);
      expect(fraction >= 0 && fraction <= 1).toBe(true);
      expect(source).toMatch(/^(recorded|inferred)$/);
    }
    const spentMs = activity.kind === 'fetch' ? activity.delayMs : activity.durationMs;
    expect(Number.isFinite(spentMs) && spentMs >= 0).toBe(true);
  }
  const { path } = estimateNetwork(recording);
  for (const figure of [path.rttMs, path.downBps, path.upBps, path.loss, path.queueBytes]) {
    expect(Number.isFinite(figure) && figure >= 0).toBe(true);
  }
}

describe('any text', () => {
  it.each(Object.keys(VALID))('that is valid (%s) is read', (name) => {
    const recording = parseRecording(VALID[name]);
    expectSound(recording);
    expectInputs(recording);
  });

  it('that was changed in a few places is read or refused in one line', () => {
    let tried = 0;
    let taken = 0;
    fc.assert(
      fc.property(mutatedText, (text) => {
        tried++;
        const recording = readOrRefused(text);
        if (recording === null) return;
        taken++;
        expectSound(recording);
        expectInputs(recording);
      }),
      { numRuns: countRuns(250, 800), interruptAfterTimeLimit: 8_000 },
    );
    expect(taken).toBeGreaterThan(0.3 * tried);
  });

  it('of any characters is refused in one line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        expect(readOrRefused(text)).toBeNull();
      }),
      { numRuns: countRuns(170, 500) },
    );
  });
});

describe('contradictory recordings', () => {
  const har = (entries: object[]) => JSON.stringify({ log: { entries } });
  const entry = (url: string, extra: object = {}) => ({
    startedDateTime: '2026-01-05T10:00:00Z',
    time: 1,
    request: { url },
    _resourceType: 'script',
    ...extra,
  });

  it('initiators in circles are ignored', () => {
    const urls = Array.from({ length: 50 }, (_, i) => `https://a.test/${i}.js`);
    const entries = urls.map((_, i) =>
      entry(urls[i]!, { _initiator: { type: 'script', url: urls[(i + 1) % 50] } }),
    );
    expectSound(parseRecording(har(entries)));
  });

  it('redirects in circles are ignored', () => {
    const response = (to: string) => ({ response: { status: 302, redirectURL: to } });
    const entries = [
      entry('https://a.test/1', response('https://a.test/2')),
      entry('https://a.test/2', response('https://a.test/1')),
      entry('https://a.test/3', response('/3')),
    ];
    const recording = parseRecording(har(entries));
    expectSound(recording);
    expectInputs(recording);
  });
});
