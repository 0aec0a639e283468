import { buildGraph, type FetchActivity, parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../support/hars.ts';

const PAGE = 'https://a.test/';
const script = (url: string) => ({ _initiator: { type: 'script', url }, _resourceType: 'fetch' });
const parser = { _initiator: { type: 'parser', url: PAGE }, _resourceType: 'script' };

/** A page whose script asks for a list, and for two items once it has that. Four other scripts call for something as soon as they have arrived. */
function recorded(): Recording {
  const others = [0, 1, 2, 3].flatMap((number) => [
    chromiumEntry(`${PAGE}other-${number}.js`, 190, { wait: 60, receive: 10 }, parser),
    chromiumEntry(`${PAGE}other-${number}`, 265, { wait: 60 }, script(`${PAGE}other-${number}.js`)),
  ]);
  const app = script(`${PAGE}app.js`);
  const entries = [
    chromiumEntry(PAGE, 0, { dns: 5, connect: 105, ssl: 55, wait: 60, receive: 10 }),
    chromiumEntry(`${PAGE}app.js`, 190, { wait: 60, receive: 20 }, parser),
    ...others,
    chromiumEntry(`${PAGE}list`, 280, { wait: 900 }, app),
    chromiumEntry(`${PAGE}item-1`, 1_186, { wait: 60 }, app),
    chromiumEntry(`${PAGE}item-2`, 1_190, { wait: 60 }, app),
  ];
  return parseRecording(harOf(entries, { onLoad: 2_100, onContentLoad: 300 }));
}

/** What a recording's requests wait for, by their URLs without the page's. */
function causesOf(recording: Recording): (name: string) => string {
  const { activities } = buildGraph(recording);
  return (name) => {
    const fetch = activities.find(
      (each): each is FetchActivity => each.kind === 'fetch' && each.url === `${PAGE}${name}`,
    )!;
    const { requestId } = activities[fetch.after[0]!.activity]!;
    return recording.requests[requestId]!.url.slice(PAGE.length);
  };
}

/** The recording of a recorder that infers scripts from the times at which they run. */
const inferred = ({ requests, ...recording }: Recording): Recording => ({
  ...recording,
  requests: requests.map((request) =>
    request.initiator.kind === 'script'
      ? { ...request, initiator: { ...request.initiator, source: 'inferred' } }
      : request,
  ),
});

describe('a request that a script made once it had an answer', () => {
  it.each([
    ['named', recorded],
    ['inferred', () => inferred(recorded())],
  ] as const)('waits for that answer, which the script that is %s for both had asked for', (_, load) => {
    const causeOf = causesOf(load());
    expect(['item-1', 'item-2'].map(causeOf)).toEqual(['list', 'list']);
    expect(causeOf('list')).toBe('app.js');
    expect(causeOf('other-3')).toBe('other-3.js');
  });
});
