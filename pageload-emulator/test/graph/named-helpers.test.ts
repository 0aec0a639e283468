import { buildGraph, type FetchActivity, parseRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../support/hars.ts';

const PAGE = 'https://a.test/';
const script = (url: string) => ({ _initiator: { type: 'script', url }, _resourceType: 'fetch' });
const parser = { _initiator: { type: 'parser', url: PAGE }, _resourceType: 'script' };

/** A document, a helper and two scripts that arrive late, after each of which an API is called: the recorder names `namedBy`. */
function callsNamedBy(namedBy: (after: string) => string) {
  const late = (name: string, startMs: number, receive: number) =>
    chromiumEntry(`${PAGE}${name}.js`, startMs, { wait: 60, receive }, parser);
  const call = (name: string, startMs: number, after: string) =>
    chromiumEntry(`${PAGE}${name}`, startMs, { wait: 60 }, script(namedBy(after)));
  const recording = parseRecording(
    harOf(
      [
        chromiumEntry(PAGE, 0, { dns: 5, connect: 105, ssl: 55, wait: 60, receive: 10 }),
        late('helper', 190, 10),
        late('first', 191, 800),
        late('second', 192, 1_700),
        call('one', 1_060, 'first'),
        call('two', 1_961, 'second'),
      ],
      { onLoad: 2_100, onContentLoad: 2_000 },
    ),
  );
  const { activities } = buildGraph(recording);
  const causeOf = (name: string) => {
    const fetch = activities.find(
      (each): each is FetchActivity => each.kind === 'fetch' && each.url === `${PAGE}${name}`,
    )!;
    const { requestId } = activities[fetch.after[0]!.activity]!;
    return { cause: recording.requests[requestId]!.url, delayMs: fetch.delayMs };
  };
  return { one: causeOf('one'), two: causeOf('two') };
}

describe('a request that a script made', () => {
  it('waits for the late script that ran, where the recorder names only the helper that it called', () => {
    for (const helper of [`${PAGE}helper.js`, PAGE]) {
      const { one, two } = callsNamedBy(() => helper);
      expect(one.cause).toBe(`${PAGE}first.js`);
      expect(two.cause).toBe(`${PAGE}second.js`);
      expect(Math.max(one.delayMs, two.delayMs)).toBeLessThan(20);
    }
  });

  it('waits for the script that is named, however long ago that ended, where others are named too', () => {
    const { one, two } = callsNamedBy((after) =>
      after === 'first' ? `${PAGE}first.js` : `${PAGE}helper.js`,
    );
    expect(one.cause).toBe(`${PAGE}first.js`);
    expect(two.cause).toBe(`${PAGE}helper.js`);
  });
});
