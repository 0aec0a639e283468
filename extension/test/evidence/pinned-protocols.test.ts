import { EVERY_ORIGIN } from '@hopwise/contract';
import { describe, expect, test } from 'vitest';
import { visitsUntil } from '../../src/evidence/comparable-loads.ts';
import type { PinPeriod } from '../../src/evidence/pin-period.ts';
import { findPinnedProtocols, listPinnedProtocols } from '../../src/evidence/pinned-protocols.ts';
import { loadOf, requestOf } from './stored-loads.ts';

const OWN = 'https://own.test';

const every = (change: Partial<PinPeriod> = {}): PinPeriod => ({
  origin: EVERY_ORIGIN,
  kind: 'avoid-h3',
  allowsLocal: false,
  sinceMs: 0,
  endedMs: null,
  everyOrigin: { ports: [1], exceptions: ['https://intranet.test'], leftSites: ['left.test'] },
  ...change,
});
const own: PinPeriod = { origin: OWN, kind: 'h1', allowsLocal: false, sinceMs: 0, endedMs: null };

const pageOf = (...hosts: [url: string, protocol: 'h1' | 'h2' | 'h3'][]) =>
  loadOf(1, {
    recording: { requests: hosts.map(([url, protocol], id) => requestOf(id, { url, protocol })) },
  });

describe('a load with every origin pinned', () => {
  const load = pageOf(
    ['https://page.test/', 'h2'],
    ['https://ads.test/', 'h1'],
    [`${OWN}/`, 'h2'],
    ['https://left.test/', 'h3'],
  );

  test('has one entry for all, so that third parties that change make no difference, and those of own pins', () => {
    expect(findPinnedProtocols(load.recording, [every(), own])).toEqual({
      [EVERY_ORIGIN]: 'h2',
      [OWN]: 'h1',
    });
  });

  test('is with these pins only if they held throughout, and where they should', () => {
    const beganMs = Date.parse(load.recording.recordedAt);
    expect(findPinnedProtocols(load.recording, [every({ sinceMs: beganMs + 1 })])).toBeNull();
    expect(findPinnedProtocols(load.recording, [every({ endedMs: beganMs + 1 })])).toBeNull();
    const slipped = pageOf(['https://page.test/', 'h3']);
    expect(findPinnedProtocols(slipped.recording, [every()])).toBeNull();
  });

  test('without one that goes through the helper is one without pins', () => {
    const local = pageOf(
      ['https://intranet.test/', 'h2'],
      ['https://www.left.test/', 'h3'],
      ['http://a.test/', 'h1'],
    );
    expect(findPinnedProtocols(local.recording, [every()])).toEqual({});
  });

  test('was over the protocols that its origins used', () => {
    const pinned = { [EVERY_ORIGIN]: 'h2', [OWN]: 'h1' } as const;
    expect(listPinnedProtocols({ ...load, pinned })).toEqual({
      'https://page.test': 'h2',
      'https://ads.test': 'h1',
      'https://left.test': 'h3',
      [OWN]: 'h1',
    });
    expect(listPinnedProtocols({ ...load, pinned: { [OWN]: 'h1' } })).toEqual({ [OWN]: 'h1' });
    expect(listPinnedProtocols({ ...load, pinned: null })).toEqual({});
  });

  test('is not taken for a first visit because it used no HTTP/3', () => {
    const overH3 = pageOf(['https://page.test/', 'h3']);
    const overH2 = { ...pageOf(['https://page.test/', 'h2']), id: 2 };
    const judge = (pinned: typeof load.pinned) =>
      visitsUntil({ ...overH2, pinned }, [overH3]).judge({ ...overH2, pinned });
    expect([judge({}), judge({ [EVERY_ORIGIN]: 'h2' })]).toEqual(['first', 'later']);
  });
});
