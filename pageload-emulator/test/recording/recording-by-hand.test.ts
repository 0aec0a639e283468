import {
  InputError,
  parseRecording,
  predict,
  type Recording,
  readRecording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumHar } from '../support/hars.ts';

const RECORDING = parseRecording(chromiumHar());

/** The recording with fields of one request replaced. */
function withRequest(index: number, fields: Partial<Recording['requests'][number]>): Recording {
  const requests = RECORDING.requests.map((request, id) =>
    id === index ? { ...request, ...fields } : request,
  );
  return { ...RECORDING, requests };
}

describe('a recording made by hand is refused in one line', () => {
  const unknown = { kind: 'other' as const, requestId: null, source: 'inferred' as const };
  const reversed = RECORDING.requests
    .toReversed()
    .map((request, id) => ({ ...request, id, initiator: unknown }));
  const initiator = { kind: 'script' as const, requestId: 2, source: 'recorded' as const };

  it.each<[string, Recording, string | RegExp]>([
    [
      'with requests that are not in order of their starts',
      { ...RECORDING, requests: reversed },
      /^requests\[1\]\.startMs: expected at least \d+, when the request before it began, got \d+$/,
    ],
    ['without requests', { ...RECORDING, requests: [] }, 'requests: expected at least one request, got none'],
    [
      'with an id that is no position',
      withRequest(1, { id: 7 }),
      'requests[1].id: expected 1, its position, got 7',
    ],
    [
      'with a URL that no network carries',
      withRequest(1, { url: 'data:,' }),
      'requests[1].url: expected an http or https URL, got "data:,"',
    ],
    [
      'with a start that is no number',
      withRequest(1, { startMs: Number.NaN }),
      'requests[1].startMs: expected a number, got NaN',
    ],
    [
      'with an end before the start',
      withRequest(0, { endMs: -5 }),
      'requests[0].endMs: expected at least 0, its start, got -5',
    ],
    [
      'with a request that its own initiator follows',
      withRequest(1, { initiator }),
      'requests[1].initiator.requestId: expected the id of a request before it, got 2',
    ],
  ])('%s', (_, recording, expected) => {
    const attempt = () => predict(recording);
    expect(attempt).toThrow(InputError);
    expect(attempt).toThrow(expected);
  });
});

describe('a recording with a load event before the first byte', () => {
  // The document's handshakes and wait: 5 + 60 + 80 = 145 ms.
  const read = (pltMs: number) => readRecording({ ...RECORDING, pltMs });

  it('is one without a load event', () => {
    const { recording, notes } = read(1);
    expect(recording).toMatchObject({ pltMs: null, missing: 'load-event' });
    expect(notes[0]).toBe('the load event in the file comes before the first byte of the page');
    expect(predict(recording).fit.understood).toBe(false);
    const inExport = readRecording({ format: 'hopwise-load', recording: { ...RECORDING, pltMs: 1 } });
    expect(inExport).toMatchObject({ recording: { pltMs: null }, notes });
  });

  it('is not one with a document from the cache, or a later event', () => {
    expect(read(150).recording.pltMs).toBe(150);
    const cached = withRequest(0, { fromCache: true });
    expect(readRecording({ ...cached, pltMs: 1 }).recording.pltMs).toBe(1);
  });
});
