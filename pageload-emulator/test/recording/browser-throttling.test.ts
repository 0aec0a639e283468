import { describe, expect, it } from 'vitest';
import { readRecording } from '../../src/recording/parse.ts';
import { chromiumEntry, harOf } from '../support/hars.ts';

/** Answers of two origins, the first of which opens a connection. @param others waits of the others, milliseconds */
function load(connect: number, others: (index: number) => number, second = 'https://b.test/') {
  const opening = { dns: 5, connect, ssl: connect / 2, wait: 566 };
  const document = chromiumEntry('https://a.test/', 0, opening, { _resourceType: 'document' });
  const images = Array.from({ length: 10 }, (_, index) =>
    chromiumEntry(
      `${index % 2 === 0 ? 'https://a.test/' : second}${index}.png`,
      800,
      { wait: others(index) },
      { _resourceType: 'image' },
    ),
  );
  return readRecording(harOf([document, ...images], { onLoad: 2_000, onContentLoad: 900 })).notes.join();
}

describe('throttling by the browser', () => {
  const held = (index: number) => 563 + index;

  it('is noted where no origin answers within a common time, but connections open at once', () => {
    // 110 / 2 for each of TCP and TLS
    expect(load(110, held)).toMatch(
      /^DevTools' throttling seems to be on: no answer came within 563 ms, but connections opened within 55 ms;/,
    );
  });

  it.each([
    ['connections take as long', load(600, held)],
    ['an answer came sooner', load(110, (index) => (index === 9 ? 60 : held(index)))],
    ['origins differ', load(110, (index) => (index % 2 === 0 ? 563 : 700))],
    ['there is one origin', load(110, held, 'https://a.test/')],
    ['a network may take that long', load(20, (index) => 60 + index)],
  ])('is not noted where %s', (_, notes) => {
    expect(notes).not.toContain('throttling');
  });
});
