import { describe, expect, it } from 'vitest';
import { page } from '../../../lab/test/support/measured-loads.ts';
import { recordingOf } from '../../../lab/test/support/recordings.ts';
import { inOrder } from '../../../pageload-emulator/test/support/in-order.ts';
import { pathOf } from '../../../pageload-emulator/test/support/pages.ts';
import { lanternGuess, withH3 } from '../../src/accuracy/lantern.ts';

const path = pathOf({ rttMs: 40, downBps: 20e6, upBps: 5e6, queueBytes: 250_000 });

/** A single document that fits the first ten segments, without server or main-thread time in the recording. */
const oneDocument = recordingOf(
  [
    {
      url: 'https://www.page.test/',
      type: 'document',
      startMs: 0,
      endMs: 120,
      bodyBytes: 9_000,
      phases: {
        connectStartMs: 0,
        secureStartMs: 40,
        connectEndMs: 80,
        requestStartMs: 80,
        responseStartMs: 120,
      },
    },
  ],
  120,
);

describe('Lantern', () => {
  it('takes a round trip each for TCP, TLS and the answer, and none for the name', () => {
    const { pltMs } = lanternGuess(oneDocument, path);
    expect(pltMs.h1).toBeCloseTo(120, 3);
    expect(pltMs.h2).toBeCloseTo(120, 3);
  });

  it('counts the given link', () => {
    const far = lanternGuess(oneDocument, { ...path, rttMs: 100 });
    expect(far.pltMs.h1).toBeCloseTo(300, 3);
    const slow = lanternGuess(page, { ...path, downBps: 2e6 });
    expect(slow.pltMs.h2!).toBeGreaterThan(2 * lanternGuess(page, path).pltMs.h2!);
  });

  it('queues on six connections under HTTP/1.1 and never under HTTP/2; HTTP/3 is one of the two', () => {
    const images = Array.from({ length: 20 }, (_, index) => ({
      ...page.requests[2]!,
      id: index + 4,
      url: `https://www.page.test/${index}.png`,
    }));
    const crowded = inOrder({ ...page, requests: [...page.requests, ...images] });
    // On a fast link with long round trips it is connections that count.
    const far = { ...path, rttMs: 200, downBps: 1e9 };
    const guess = lanternGuess(crowded, far);
    expect(guess.pltMs.h3).toBeUndefined();
    expect(guess.best).toBe('h2');
    expect(guess.pltMs.h1! - guess.pltMs.h2!).toBeGreaterThanOrEqual(2 * far.rttMs);
    expect(withH3(guess, 'h1').pltMs.h3).toBe(guess.pltMs.h1);
    expect(withH3(guess, 'h2').pltMs.h3).toBe(guess.pltMs.h2);
  });

  it('ignores loss and the treatment of UDP', () => {
    const { elapsedMs: _, ...clean } = lanternGuess(page, path);
    const { elapsedMs: __, ...bad } = lanternGuess(page, { ...path, loss: 0.05, udp: { kind: 'blocked' } });
    expect(bad).toEqual(clean);
  });

  it('includes waits between cause and request', () => {
    const late = structuredClone(page);
    const waitMs = 200;
    late.pltMs! += waitMs;
    for (const request of late.requests.slice(3)) {
      request.startMs += waitMs;
      request.endMs += waitMs;
      request.phases.requestStartMs! += waitMs;
      request.phases.responseStartMs! += waitMs;
    }
    const longer = lanternGuess(late, path).pltMs.h2! - lanternGuess(page, path).pltMs.h2!;
    expect(longer).toBeGreaterThan(0.7 * waitMs);
    expect(longer).toBeLessThan(1.3 * waitMs);
  });
});
