import { NO_PHASES } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';

type Draft = Partial<Omit<RecordedRequest, 'id' | 'initiator' | 'phases'>> & {
  url: string;
  startMs: number;
  endMs: number;
  by?: [RecordedRequest['initiator']['kind'], number | null];
  phases?: Partial<RecordedRequest['phases']>;
};

/** A recording of the requests, numbered in order; each is sent at once and its answer starts at half its time. */
export function recordingOf(drafts: Draft[], pltMs: number | null = 2000): Recording {
  return {
    format: 'hopwise-recording',
    version: 1,
    url: drafts[0]?.url ?? '',
    recordedAt: '2026-01-01T00:00:00.000Z',
    browser: '',
    pltMs,
    domContentLoadedMs: null,
    firstContentfulPaintMs: null,
    largestContentfulPaintMs: null,
    requests: drafts.map(({ by, phases, ...draft }, id) => ({
      method: 'GET',
      type: 'other',
      status: 200,
      protocol: 'h2',
      transferBytes: null,
      bodyBytes: 1000,
      decodedBytes: null,
      renderBlocking: null,
      fromCache: false,
      connectionId: null,
      remoteIp: null,
      offersH3: null,
      ...draft,
      id,
      initiator: { kind: by?.[0] ?? 'navigation', requestId: by?.[1] ?? null, source: 'recorded' },
      phases: {
        ...NO_PHASES,
        requestStartMs: draft.startMs,
        responseStartMs: (draft.startMs + draft.endMs) / 2,
        ...phases,
      },
    })),
  };
}

/** A page with one of everything: redirect, markup, styles, chains of scripts, a frame, work after the load event. */
export const everything = recordingOf(
  [
    { url: 'http://shop.example/', type: 'document', startMs: 0, endMs: 50, status: 301, bodyBytes: 0 },
    {
      url: 'https://shop.example/',
      type: 'document',
      startMs: 50,
      endMs: 250,
      bodyBytes: 12_000,
      by: ['redirect', 0],
    },
    {
      url: 'https://shop.example/a.css',
      type: 'style',
      startMs: 160,
      endMs: 260,
      bodyBytes: 4000,
      by: ['parser', 1],
    },
    {
      url: 'https://shop.example/a.js',
      type: 'script',
      startMs: 165,
      endMs: 280,
      bodyBytes: 9000,
      by: ['parser', 1],
      renderBlocking: true,
    },
    {
      url: 'https://img.example/1.png',
      type: 'image',
      startMs: 200,
      endMs: 400,
      bodyBytes: 30_000,
      by: ['parser', 1],
    },
    {
      url: 'https://img.example/tiny.gif',
      type: 'image',
      startMs: 205,
      endMs: 300,
      bodyBytes: 43,
      by: ['parser', 1],
    },
    {
      url: 'https://ads.example:8443/frame',
      type: 'iframe',
      startMs: 210,
      endMs: 420,
      bodyBytes: 3000,
      by: ['parser', 1],
    },
    {
      url: 'https://shop.example/b.css',
      type: 'style',
      startMs: 262,
      endMs: 330,
      bodyBytes: 900,
      by: ['style', 2],
    },
    {
      url: 'https://fonts.example/f.woff2',
      type: 'font',
      startMs: 332,
      endMs: 420,
      bodyBytes: 21_000,
      by: ['style', 7],
    },
    {
      url: 'https://img.example/bg.png',
      type: 'image',
      startMs: 333,
      endMs: 450,
      bodyBytes: 8000,
      by: ['style', 2],
    },
    {
      url: 'https://cdn.example/b.js',
      type: 'script',
      startMs: 300,
      endMs: 380,
      bodyBytes: 5000,
      by: ['script', 3],
    },
    {
      url: 'https://cdn.example/c.js',
      type: 'script',
      startMs: 385,
      endMs: 460,
      bodyBytes: 4000,
      by: ['script', 10],
    },
    {
      url: 'https://api.example/data',
      type: 'fetch',
      startMs: 465,
      endMs: 560,
      bodyBytes: 700,
      by: ['script', 11],
    },
    {
      url: 'https://img.example/2.png',
      type: 'image',
      startMs: 565,
      endMs: 700,
      bodyBytes: 9000,
      by: ['script', 11],
    },
    {
      url: 'https://ads.example:8443/pixel',
      type: 'image',
      startMs: 425,
      endMs: 500,
      bodyBytes: 600,
      by: ['parser', 6],
    },
    {
      url: 'https://img.example/late.png',
      type: 'image',
      startMs: 900,
      endMs: 1000,
      bodyBytes: 700,
      by: ['parser', 1],
    },
    {
      url: 'https://img.example/cached.png',
      type: 'image',
      startMs: 910,
      endMs: 911,
      fromCache: true,
      by: ['parser', 1],
    },
    {
      url: 'https://dead.example/x.js',
      type: 'script',
      startMs: 920,
      endMs: 921,
      status: 0,
      by: ['parser', 1],
    },
    {
      url: 'https://t.example/beacon',
      type: 'beacon',
      startMs: 2100,
      endMs: 2200,
      bodyBytes: 0,
      by: ['script', 11],
    },
    {
      url: 'https://ads.example:8443/after',
      type: 'image',
      startMs: 2150,
      endMs: 2250,
      bodyBytes: 500,
      by: ['parser', 6],
    },
  ],
  2000,
);
