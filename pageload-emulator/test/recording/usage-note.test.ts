import { buildGraph, parseRecording, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, chromiumHar, harOf } from '../support/hars.ts';

const PAGE = chromiumEntry('https://a.test/', 0, {}, { pageref: 'page_1' });

function notesOf(entries: object[], pageTimings?: object): string[] {
  return readRecording(harOf([PAGE, ...entries], pageTimings)).notes;
}

const image = (startMs: number, extra: object = {}) =>
  chromiumEntry('https://a.test/i.png', startMs, {}, { _resourceType: 'image', ...extra });

describe('the note on requests that a prediction leaves out', () => {
  it('is absent when every request is used', () => {
    expect(notesOf([image(100)])).toEqual([]);
  });

  it('counts requests that began after the load event, which comes at 500 ms', () => {
    const late = Array.from({ length: 880 }, (_, index) => image(500 + index));
    expect(notesOf([image(499), ...late])).toEqual([
      'used 2 of 882 requests: 880 began after the load event',
    ]);
  });

  it('names every reason, the most frequent first', () => {
    const failed = image(20, { response: { status: 0, _error: 'net::ERR_FAILED' } });
    const notes = notesOf([
      image(10, { _fromCache: 'memory' }),
      image(15, { _fromCache: 'disk' }),
      { ...failed, request: { method: 'GET', url: 'https://a.test/gone.png' } },
      chromiumEntry('data:image/gif;base64,R0', 30, {}),
    ]);
    expect(notes).toEqual([
      'used 1 of 5 requests: 2 came from the cache, 1 had no http or https URL, 1 failed without an answer',
    ]);
  });

  it('takes no data: URL that a page uses several times for a copy', () => {
    const pixel = chromiumEntry('data:image/gif;base64,R0', 30, {});
    expect(notesOf([image(10), pixel, pixel, pixel])).toEqual([
      'used 2 of 5 requests: 3 had no http or https URL',
    ]);
  });

  it('says what stands for the load event of a page that has none', () => {
    // The image ends at 150 ms; the script's request at 160 ms could not hold up a load event at that time.
    const late = chromiumEntry('https://a.test/data', 160, {}, { _resourceType: 'xhr' });
    expect(notesOf([image(100), late], {})).toEqual([
      'no load event in the file: the load is guessed to end with the last response that could hold it up, after 150 ms',
      'used 2 of 3 requests: 1 began after all that a load event waits for',
    ]);
  });

  it('is given for hopwise recordings too', () => {
    const recording = parseRecording(harOf([PAGE, image(600)]));
    expect(readRecording(recording).notes).toEqual(['used 1 of 2 requests: 1 began after the load event']);
  });

  it('counts as used what the page graph fetches', () => {
    const { recording, notes } = readRecording(chromiumHar());
    const fetches = buildGraph(recording).activities.filter(({ kind }) => kind === 'fetch').length;
    // One more entry of the file is a data: URL.
    expect(notes[0]).toMatch(new RegExp(`^used ${fetches} of ${recording.requests.length + 1} requests: `));
  });
});
