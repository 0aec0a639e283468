import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pageRequestSchema } from '../../src/background/page-requests.ts';
import { pageSettledSchema, pageShownSchema } from '../../src/recorder/page-timings.ts';

test.each([
  { type: 'latest' },
  { type: 'latest', tabId: 3, brief: true },
  { type: 'latest', url: 'https://page.test/' },
  { type: 'verify', tabId: 3, protocols: ['h1', 'h3'], rounds: 5, budgetBytes: 1_000_000 },
  { type: 'verification', tabId: 3 },
  { type: 'cancel-verification' },
  { type: 'export', tabId: 3 },
  { type: 'forget-networks' },
  { type: 'pins' },
  { type: 'pins', fresh: true },
  { type: 'pin', pins: [{ origin: 'https://page.test', kind: 'h2' }], minutes: 60, persistent: false },
  { type: 'pin', pins: [{ origin: 'https://page.test', kind: 'avoid-h3' }], minutes: 60, persistent: false },
  {
    type: 'pin',
    pins: [{ origin: 'https://page.test:8443', kind: 'avoid-h3' }],
    minutes: null,
    persistent: true,
  },
  { type: 'unpin', origins: ['https://page.test'] },
])('%j is a request', (request) => {
  expect(pageRequestSchema.parse(request)).toEqual(request);
});

test.each([
  null,
  'latest',
  {},
  { type: 'eval' },
  { type: 'latest', tabId: '3' },
  { type: 'latest', tabId: -1 },
  { type: 'latest', url: 'x'.repeat(9000) },
  { type: 'verify', tabId: 3, rounds: 0 },
  { type: 'verify', tabId: 3, rounds: 21 },
  { type: 'verify', tabId: 3, protocols: [] },
  { type: 'verify', tabId: 3, protocols: ['h4'] },
  { type: 'verify', tabId: 3, budgetBytes: -1 },
  { type: 'pin', pins: [{ origin: 'https://page.test', kind: 'h4' }], minutes: 60, persistent: false },
  { type: 'pin', pins: [{ origin: 'http://page.test', kind: 'avoid-h3' }], minutes: 60, persistent: false },
  { type: 'pin', pins: [{ origin: 'https://page.test/', kind: 'avoid-h3' }], minutes: 60, persistent: false },
  { type: 'pin', pins: [{ origin: 'https://page.test', kind: 'avoid-h3' }], minutes: 0, persistent: false },
  { type: 'unpin' },
])('%j is not a request', (request) => {
  expect(pageRequestSchema.safeParse(request).success).toBe(false);
});

test('a content script may only report that its page has settled or is shown', () => {
  const timings = {
    ...{ url: 'https://page.test/', isTop: true, timeOrigin: 1e12, navigation: null },
    ...{ firstContentfulPaint: null, largestContentfulPaint: null, largestContentfulPaintUrl: null },
    ...{ resources: [], scriptRuns: [] },
  };
  const report = { loaded: true, leftMs: null, hasFrames: false, wasHidden: false, timings };
  expect(pageSettledSchema.safeParse({ type: 'page-settled', ...report }).success).toBe(true);
  expect(pageSettledSchema.safeParse({ type: 'page-settled', ...report, timings: {} }).success).toBe(false);
  expect(pageSettledSchema.safeParse({ type: 'latest', ...report }).success).toBe(false);
  expect(pageShownSchema.safeParse({ type: 'page-shown', timeOrigin: 1e12 }).success).toBe(true);
  expect(pageShownSchema.safeParse({ type: 'page-shown' }).success).toBe(false);
});

/** The fields of each type of request, by the schema. */
function listFields({ _zod }: { _zod: { def: object } }): [string, string[]][] {
  const { options = [], shape = {} } = _zod.def as {
    options?: Parameters<typeof listFields>[0][];
    shape?: Record<string, { _zod: { def: { values?: string[] } } }>;
  };
  if (options.length > 0) return options.flatMap(listFields);
  const { type, ...fields } = shape;
  return [[type!._zod.def.values![0]!, Object.keys(fields).sort()]];
}

test('the reference lists every request with its fields, and no other', () => {
  const reference = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8');
  const rows = [...reference.matchAll(/^\| `\{type: '([a-z-]+)'(.*?)\}` \|/gm)];
  const listed = rows.map(([, type, fields]): [string, string[]] => [
    type!,
    // Without the fields of what a field holds.
    (fields!.replaceAll(/: \[.*\]/g, '').match(/\w+/g) ?? []).sort(),
  ]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(listFields(pageRequestSchema)));
});
