import { EVERY_ORIGIN, type RecordedRequest } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { chooseSpared } from '../../../src/autopilot/runs/spared-origin.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';

const PAGE = 'https://page.test';
const sent = (site: string, bodyBytes: number, more: Partial<RecordedRequest> = {}) =>
  requestOf(0, { url: `https://${site}/`, bodyBytes, ...more });
const loadWith = (...requests: RecordedRequest[]) => loadOf(1, { recording: { requests } });
const run = (...origins: string[]) => ({
  pins: origins.map((origin) => ({ origin, kind: 'avoid-h3' as const })),
});
const EVERY = run(EVERY_ORIGIN);
const visits = (...overH3: string[]) => ({ isOverH3: (origin: string) => overH3.includes(origin) });

const PAGE_SENT = [sent('page.test', 400_000), sent('few.test', 35_000), sent('more.test', 60_000)];
const LOAD = loadWith(...PAGE_SENT);

test('the origin is spared that tells of UDP at the least cost', () => {
  expect(chooseSpared(LOAD, EVERY, visits())).toBe('https://few.test');
  expect(chooseSpared(LOAD, run(PAGE, 'https://more.test'), visits()), 'pinned').toBe('https://more.test');
});

test('none that is pinned by itself as well, which would not be spared', () => {
  const pinned = { [EVERY_ORIGIN]: 'h2', 'https://few.test': 'h2' } as const;
  const load = loadOf(1, { recording: { requests: PAGE_SENT }, pinned });
  expect(chooseSpared(load, EVERY, visits())).toBe('https://more.test');
  expect(chooseSpared(load, run(PAGE, 'https://few.test'), visits())).toBe('https://few.test');
});

test('rather one that was used over HTTP/3, as others may not offer it', () => {
  expect(chooseSpared(LOAD, EVERY, visits('https://more.test'))).toBe('https://more.test');
});

test('none with small responses alone, from the cache, or without TLS', () => {
  const small = [1, 2, 3, 4].map(() => sent('small.test', 20_000));
  const cached = sent('cached.test', 40_000, { fromCache: true });
  const open = sent('open.test', 40_000, { url: 'http://open.test/' });
  expect(
    chooseSpared(loadWith(sent('page.test', 20_000), ...small, cached, open), EVERY, visits()),
  ).toBeNull();
});

test('none that sends much of what the page needs', () => {
  expect(chooseSpared(loadWith(sent('page.test', 400_000)), EVERY, visits())).toBeNull();
  expect(chooseSpared(LOAD, run(PAGE), visits())).toBeNull();
  expect(chooseSpared(LOAD, run('https://more.test'), visits()), 'all that is pinned').toBeNull();
});
