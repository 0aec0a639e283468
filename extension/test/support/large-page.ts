import type { RecordedRequest, Recording } from '@hopwise/contract';
import { PAGE, requestOf } from '../evidence/stored-loads.ts';

const ORIGINS = 12;

/**
 * A page with as many requests: a document, then scripts that ask for images, in groups of 20 from 12 origins.
 *
 * @param count at least 2
 */
export function largePage(count: number): Recording {
  const requests: RecordedRequest[] = [requestOf(0, { endMs: 180 })];
  for (let id = 1; id < count; id++) {
    const script = Math.floor((id - 1) / 20) * 20 + 1;
    const isScript = id === script;
    const startMs = 120 + Math.floor(id / 4);
    const waitingMs = 40 + ((id * 37) % 80);
    requests.push(
      requestOf(id, {
        url: `https://o${id % ORIGINS}.page.test/${id}.${isScript ? 'js' : 'png'}`,
        type: isScript ? 'script' : 'image',
        startMs,
        endMs: startMs + waitingMs + 10 + ((id * 13) % 50),
        phases: {
          ...requestOf(0).phases,
          requestStartMs: startMs + 1,
          responseStartMs: startMs + waitingMs,
        },
        initiator: {
          kind: isScript ? 'parser' : 'script',
          requestId: isScript ? 0 : script,
          source: 'recorded',
        },
      }),
    );
  }
  const endMs = Math.max(...requests.map((request) => request.endMs));
  return {
    format: 'hopwise-recording',
    version: 1,
    url: PAGE,
    recordedAt: '2026-11-20T12:00:00Z',
    browser: 'Chromium',
    pltMs: endMs + 5,
    domContentLoadedMs: 200,
    firstContentfulPaintMs: 220,
    largestContentfulPaintMs: null,
    requests,
  };
}
