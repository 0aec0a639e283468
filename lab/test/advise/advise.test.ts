import { gunzipSync } from 'node:zlib';
import { type MeasuredGain, parseRecording, proofOf } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { judgeCell, summariseKinds } from '../../src/advise/judge-advice.ts';
import { answerTo } from '../../src/advise/name-server.ts';
import {
  EXPERIMENTS,
  SET_UPS,
  serversIn,
  setUpsFor,
  TESTABLE,
  testableOn,
} from '../../src/advise/set-ups.ts';
import { showJudged, showSummary } from '../../src/advise/show-judged.ts';
import {
  announce,
  compressText,
  delayPage,
  forbidCaching,
  moveToOneOrigin,
  redirectToEntry,
} from '../../src/advise/site-changes.ts';
import { mergeGains, withRows, withTables } from '../../src/advise/write-proofs.ts';
import { siteSchema } from '../../src/sites/site.ts';
import type { GeneratedSite } from '../../src/sites/write-site.ts';

const PAGE = `<!doctype html><html><head lang="en"><title>A page</title></head>${'<script src="https://cdn.page.test/a.js"></script>'.repeat(50)}`;

const SITE = siteOf([
  ['https://page.test', '/', 'text/html; charset=utf-8', PAGE],
  ['https://cdn.page.test', '/a.js', 'text/javascript', 'fetch("https://cdn.page.test/b.json")'],
  ['https://cdn.page.test', '/b.json', 'application/json', '{}'],
]);

function siteOf(resources: [origin: string, path: string, type: string, text: string][]): GeneratedSite {
  const origins = [...new Set(resources.map(([origin]) => origin))];
  const files = new Map(resources.map(([, , , text], index) => [`body-${index}`, Buffer.from(text)]));
  return {
    files,
    site: {
      format: 'hopwise-site',
      version: 1,
      name: 'page',
      entry: 'https://page.test/',
      origins: origins.map((origin) => ({ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 })),
      resources: resources.map(([origin, path, type], index) => ({
        origin,
        path,
        status: 200,
        headers: { 'content-type': type, 'Cache-Control': 'max-age=60' },
        body: { file: `body-${index}` },
        thinkMs: 0,
      })),
    },
  };
}

/** Bodies by URL, as text. */
function bodiesOf({ site, files }: GeneratedSite): Record<string, string> {
  return Object.fromEntries(
    site.resources.map(({ origin, path, headers, body }) => {
      const bytes = files.get((body as { file: string }).file)!;
      const isCompressed = headers['content-encoding'] === 'gzip';
      return [`${origin}${path}`, (isCompressed ? gunzipSync(bytes) : Buffer.from(bytes)).toString()];
    }),
  );
}

describe('pages that follow advice', () => {
  it('have pages and scripts compressed, and nothing else', () => {
    const after = compressText(SITE)!;
    expect(bodiesOf(after)).toEqual(bodiesOf(SITE));
    expect(after.site.resources.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
    ]);
    const { file } = after.site.resources[0]!.body as { file: string };
    expect(after.files.get(file)!.length).toBeLessThan(PAGE.length / 10);
    expect(compressText(after)).toBeNull();
  });

  it('have all resources at one origin, to which their text refers', () => {
    expect(bodiesOf(moveToOneOrigin(SITE)!)).toEqual({
      'https://page.test/': PAGE.replaceAll('cdn.page.test', 'page.test'),
      'https://page.test/a.js': 'fetch("https://page.test/b.json")',
      'https://page.test/b.json': '{}',
    });
  });

  it('are entered through a redirect of another host before they stand in its place', () => {
    const { site, files } = redirectToEntry(SITE);
    expect(site.entry).toBe('https://go.page.test/');
    expect(site.origins.map(({ origin }) => origin)).toEqual([
      'https://page.test',
      'https://cdn.page.test',
      'https://go.page.test',
    ]);
    expect(site.resources.at(-1)).toMatchObject({
      origin: 'https://go.page.test',
      path: '/',
      status: 301,
      headers: { location: 'https://page.test/' },
    });
    expect(siteSchema.parse(site)).toEqual(site);
    expect(files).toBe(SITE.files);
  });

  it('are made slowly before they come from a cache', () => {
    expect(delayPage(SITE).site.resources.map(({ thinkMs }) => thinkMs)).toEqual([400, 0, 0]);
  });

  it('stay as they are where origins have the same path, or there is one only', () => {
    const same = siteOf([
      ['https://page.test', '/', 'text/html', ''],
      ['https://cdn.page.test', '/', 'text/html', ''],
    ]);
    expect(moveToOneOrigin(same)).toBeNull();
    expect(moveToOneOrigin(siteOf([['https://page.test', '/', 'text/html', '']]))).toBeNull();
  });

  it('announce connections and files at the beginning of the head', () => {
    const links = [
      { rel: 'preconnect', href: 'https://cdn.page.test', crossorigin: true },
      { rel: 'preload', href: 'https://cdn.page.test/a.js?x=1&y="', as: 'script' },
    ] as const;
    const { 'https://page.test/': page, ...others } = bodiesOf(announce(SITE, links)!);
    expect(page).toBe(
      PAGE.replace(
        '<head lang="en">',
        '<head lang="en"><link rel="preconnect" href="https://cdn.page.test" crossorigin>' +
          '<link rel="preload" href="https://cdn.page.test/a.js?x=1&amp;y=&quot;" as="script">',
      ),
    );
    expect(others).toEqual(Object.fromEntries(Object.entries(bodiesOf(SITE)).slice(1)));
    expect(announce(SITE, [])).toBeNull();
    expect(announce(compressText(SITE)!, links)).toBeNull();
  });

  it('are kept by no cache on later visits', () => {
    const { site } = forbidCaching(SITE);
    expect(site.resources[1]!.headers).toEqual({
      'content-type': 'text/javascript',
      'cache-control': 'no-store',
    });
  });
});

describe('experiments', () => {
  it.each(TESTABLE)('%s changes one thing', (kind) => {
    const { before, after } = EXPERIMENTS[kind];
    const changed = (name: typeof before | typeof after) => {
      const { servers, changeSite, view, hasRecords } = SET_UPS[name];
      return { ...servers, changeSite, view, hasRecords };
    };
    const [a, b] = [changed(before), changed(after)];
    const names = Object.keys(a) as (keyof typeof a)[];
    expect(names.filter((name) => a[name] !== b[name])).toHaveLength(1);
  });

  it('share what is before several of them', () => {
    expect(setUpsFor(['bbr', 'tls-1.3', 'offer-h3'])).toEqual(['usual', 'bbr', 'tls-1.2', 'offers-h3']);
  });
});

describe('the name server', () => {
  /** A query with the identifier 7 for records of a type. */
  const query = (host: string, type: number) =>
    Buffer.concat([
      Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
      ...host.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
      Buffer.from([0, 0, type, 0, 1]),
    ]);
  const ask = (host: string, type: number) => {
    const asked = query(host, type);
    const answer = answerTo(asked, { 'a.test': '198.18.0.9' })!;
    expect(answer.subarray(12, asked.length)).toEqual(asked.subarray(12));
    return { counts: [...answer.subarray(0, 8)], record: [...answer.subarray(asked.length)] };
  };
  const answered = (records: number) => [0, 7, 0x81, 0x80, 0, 1, 0, records];

  it("answers with a host's address and a record that offers HTTP/3", () => {
    expect(ask('a.TEST', 1)).toEqual({
      counts: answered(1),
      record: [0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 198, 18, 0, 9],
    });
    // Priority 1, the root as target, the key 1 (alpn) with 6 bytes: h3 and h2.
    const data = [0, 1, 0, 0, 1, 0, 6, 2, 104, 51, 2, 104, 50];
    expect(ask('a.test', 65)).toEqual({
      counts: answered(1),
      record: [0xc0, 12, 0, 65, 0, 1, 0, 0, 1, 44, 0, data.length, ...data],
    });
  });

  it('answers with nothing for other types and hosts, and not at all to what is no query', () => {
    expect(ask('a.test', 28)).toEqual({ counts: answered(0), record: [] });
    expect(ask('b.test', 1)).toEqual({ counts: answered(0), record: [] });
    expect(answerTo(query('a.test', 1).subarray(0, 20), {})).toBeNull();
    expect(answerTo(Buffer.alloc(3), {})).toBeNull();
  });
});

describe('judged advice', () => {
  const recording = parseRecording({
    log: {
      version: '1.2',
      creator: { name: 'test', version: '1' },
      entries: [
        {
          startedDateTime: '2026-01-01T00:00:00.000Z',
          time: 400,
          request: { method: 'GET', url: 'https://page.test/', httpVersion: 'h2', headers: [] },
          response: {
            status: 200,
            httpVersion: 'h2',
            headers: [],
            content: { size: 30_000, mimeType: 'text/html' },
            bodySize: 30_000,
          },
          timings: { blocked: 0, dns: 0, connect: 200, ssl: 100, send: 0, wait: 100, receive: 100 },
        },
      ],
      pages: [],
    },
  });
  const cell = {
    page: 'page',
    network: 'far',
    path: {
      rttMs: 100,
      downMbps: 1_000,
      upMbps: 1_000,
      loss: 0,
      lossBurst: 1,
      queue: { ms: 100 },
      udp: 'open' as const,
    },
    stack: 'go' as const,
    timesMs: { usual: [400, 410, 390], 'initial-window': [300, 310, 290] },
    recordings: { usual: recording },
    gzipBytes: {},
  };

  it('has promise and gain, and is left out where there are no loads', () => {
    const judged = judgeCell(cell, ['bbr', 'initial-window']);
    expect(judged.map(({ kind }) => kind)).toEqual(['initial-window']);
    const [{ promised, gain, difference, isKept }] = judged as [(typeof judged)[number]];
    // 30 kB are two flights of 10 packets and more, and one of 32: a round trip of 4.
    expect(gain).toBeCloseTo(0.25, 12);
    expect(promised).toBeCloseTo(0.25, 1);
    expect(difference.estimate).toBeCloseTo(gain - promised, 12);
    expect(isKept).toBe(true);
  });

  it('on nginx names the servers, and asks of them only what they have', () => {
    const [judged] = judgeCell({ ...cell, stack: 'nginx-quiche' }, ['initial-window']);
    expect(judged!.network).toBe(`${cell.network}, nginx`);
    const kinds = testableOn('nginx-quiche');
    expect(TESTABLE.filter((kind) => !kinds.includes(kind))).toEqual([
      'offer-h2',
      'early-data',
      'tls-1.3',
      'priorities',
    ]);
    for (const name of setUpsFor(kinds)) {
      const { tlsVersion, earlyData, priorities } = serversIn(name, 'nginx-quiche');
      expect([tlsVersion, earlyData, priorities]).toEqual([undefined, undefined, 'honoured']);
    }
    expect(serversIn('initial-window', 'nginx-quiche').initialWindow).toBe(32);
  });

  it('is shown in percent and points, and summed up by kind', () => {
    const one = {
      page: 'shop',
      network: 'lte',
      kind: 'bbr',
      promised: 0.3,
      gain: 0.254,
      difference: { estimate: -0.046, low: -0.1, high: 0.01 },
      isKept: true,
    } as const;
    const other = { ...one, gain: 0.2, difference: { ...one.difference, estimate: -0.1 }, isKept: false };
    expect(showJudged([one, other]).split('\n')).toEqual([
      'page and network  advice  promised  gained  difference    low  high  kept',
      'shop, lte            bbr     30.0%   25.4%        -4.6  -10.0   1.0   yes',
      'shop, lte            bbr     30.0%   20.0%       -10.0  -10.0   1.0    no',
    ]);
    // The median difference of 4.6 and 10 points.
    expect(showSummary(summariseKinds([one, other])).split('\n')).toEqual([
      'advice         cells  given  promised  gained  |difference|    kept',
      'send with BBR      2      2     30.0%   22.7%           7.3  1 of 2',
    ]);
    const tiny = { ...one, promised: 0.01, gain: 0.01 };
    expect(summariseKinds([tiny])).toEqual([{ kind: 'bbr', cells: 1, given: 0, kept: 0, medians: null }]);
    expect(showSummary(summariseKinds([tiny]))).toMatch(/send with BBR +1 +0\s*$/);
  });

  it('is written into the source and the documentation, in place of earlier gains of the same page and network', () => {
    const earlier: MeasuredGain[] = [
      ['bbr', 'shop', 'lossy', 0.3, 0.1, 0, 0.2],
      ['bbr', 'news', 'lossy', 0.01, 0.2, 0.1, 0.3],
    ];
    const gains = mergeGains(earlier, [['bbr', 'shop', 'lossy', 0.25, 0.21, -0.01, 0.3]]);
    expect(gains).toEqual([['bbr', 'shop', 'lossy', 0.25, 0.21, -0.01, 0.3], earlier[1]]);
    // 4 points are within 5; the other cell has no advice.
    expect(proofOf('bbr', gains)).toEqual({ kept: 1, cells: 1 });
    expect(proofOf('bbr', earlier)).toEqual({ kept: 0, cells: 1 });
    const head = '// before\nexport const MEASURED_GAINS: readonly MeasuredGain[] = [';
    expect(withRows(`${head}];\n`, gains)).toBe(
      `${head}\n  ['bbr', 'shop', 'lossy', 0.25, 0.21, -0.01, 0.3],\n  ['bbr', 'news', 'lossy', 0.01, 0.2, 0.1, 0.3],\n];\n`,
    );
    const marks = [
      '<!-- Written by `npm run lab -- advise … --write`. -->',
      '<!-- End of what is written. -->',
    ];
    const document = withTables(`a\n${marks.join('\nold\n')}\nb`, gains);
    expect(document).toContain('| bbr | 2 | 1 | 1 | no |');
    expect(document).toContain(
      '| `lossy` | shop | news |\n| --- | --- | --- |\n| bbr | 25; 21 (−1 to 30) | [1; 20 (10 to 30)] |',
    );
    expect(document).not.toContain('old');
    expect(document.startsWith('a\n') && document.endsWith('\nb')).toBe(true);
    expect(() => withTables('no marks', gains)).toThrow('expected <!-- Written by');
  });
});
