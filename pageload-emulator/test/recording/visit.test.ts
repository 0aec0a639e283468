import type { Assignment, Protocol, RecordedRequest } from '@hopwise/contract';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { assignmentByBytes, carriedAssignment, recordedVisit } from '../../src/recording/visit.ts';

type Request = [origin: string, protocol: Protocol, more?: Partial<RecordedRequest>];

/** The visit that these requests show, in order. All of their origins offer HTTP/3. */
const visitOver = (requests: readonly Request[]) =>
  recordedVisit({
    requests: requests.map(([origin, protocol, more], id) => ({
      url: `https://${origin}/${id}`,
      protocol,
      offersH3: true,
      fromCache: false,
      ...more,
    })),
  });

const site = (count: number, protocol: Protocol): Request[] =>
  Array.from({ length: count }, () => ['page.test', protocol]);

test('a visit that meets the page over TCP is a first one, even where it goes on over HTTP/3', () => {
  expect(visitOver(site(5, 'h2'))).toBe('first');
  expect(visitOver([...site(1, 'h2'), ...site(9, 'h3')])).toBe('first');
});

test('a new third party, or one at which TCP won the race, makes no first visit', () => {
  expect(visitOver([...site(3, 'h3'), ['ads.test', 'h2'], ...site(3, 'h3'), ['ads.test', 'h3']])).toBe(
    'later',
  );
  // The page's server met over TCP outweighs a third party that another page has made known.
  expect(visitOver([...site(4, 'h2'), ['fonts.test', 'h3'], ['fonts.test', 'h3']])).toBe('first');
});

test('responses from the cache, servers without HTTP/3 and plain http show nothing', () => {
  expect(visitOver([['page.test', 'h2', { fromCache: true }]])).toBe(null);
  expect(visitOver([['page.test', 'h2', { offersH3: false }]])).toBe(null);
  expect(visitOver([['page.test', 'h1', { url: 'http://page.test/' }]])).toBe(null);
  expect(visitOver([...site(1, 'h3'), ['page.test', 'h2', { fromCache: true }]])).toBe('later');
});

test('one request more to an origin that begins over TCP never makes a visit a later one', () => {
  const requests = fc.array(
    fc.tuple(fc.constantFrom('a.test', 'b.test', 'c.test'), fc.constantFrom<Protocol>('h2', 'h3')),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(requests, (own) => {
      const longer = visitOver([['d.test', 'h2'], ...own]);
      if (visitOver(own) === 'first') expect(longer).toBe('first');
    }),
    { seed: 1 },
  );
});

describe('what carried a load', () => {
  const carried = (requests: readonly [origin: string, protocol: Protocol | null][], natural: Assignment) =>
    carriedAssignment(
      {
        requests: requests.map(([origin, protocol], id) => ({
          id,
          url: `https://${origin}/${id}`,
          protocol,
          status: 200,
        })),
      },
      natural,
    );
  const offered = {
    'https://page.test': 'h3',
    'https://old.test': 'h3',
    'https://other.test': 'h2',
  } as const;

  it('is TCP by origin, where HTTP/3 was offered and never used', () => {
    expect(
      carried(
        [
          ['page.test', 'h2'],
          ['old.test', 'h1'],
          ['other.test', 'h2'],
        ],
        offered,
      ),
    ).toEqual({
      'https://page.test': 'h2',
      'https://old.test': 'h1',
      'https://other.test': 'h2',
    });
  });

  it('is what the browser does by itself where HTTP/3 was used, is not offered, or no protocol is known', () => {
    expect(
      carried(
        [
          ['page.test', 'h2'],
          ['page.test', 'h3'],
        ],
        offered,
      ),
    ).toBe(null);
    expect(carried([['page.test', 'h2']], { 'https://page.test': 'h2' })).toBe(null);
    expect(carried([['page.test', null]], offered)).toBe(null);
  });
});

test('an origin that changed to HTTP/3 is taken for what carried most of its bytes, and others for what the browser uses', () => {
  const natural = {
    'https://img.test': 'h3',
    'https://page.test': 'h3',
    'https://old.test': 'h3',
    'https://unseen.test': 'h3',
    'https://tcp.test': 'h2',
  } as const;
  const sent: [origin: string, protocol: Protocol, bytes: number][] = [
    ['page.test', 'h2', 50_000],
    ['page.test', 'h3', 10_000],
    ['img.test', 'h2', 10_000],
    ['img.test', 'h3', 50_000],
    ['old.test', 'h1', 50_000],
    ['tcp.test', 'h2', 50_000],
  ];
  const requests = sent.map(([origin, protocol, transferBytes], id) => ({
    url: `https://${origin}/${id}`,
    protocol,
    fromCache: false,
    type: 'image' as const,
    status: 200,
    transferBytes,
    bodyBytes: null,
    decodedBytes: null,
  }));
  expect(assignmentByBytes({ requests }, natural)).toEqual({
    'https://img.test': 'h3',
    'https://page.test': 'h2',
    'https://old.test': 'h1',
    'https://unseen.test': 'h3',
    'https://tcp.test': 'h2',
  });
});
