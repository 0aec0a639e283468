import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { showMeasuredAdvice } from '../src/advise/command.ts';
import { serversFollowing, siteFollowing, TESTABLE, testableAdvice } from '../src/advise/server-changes.ts';
import type { GeneratedSite } from '../src/sites/write-site.ts';

const PAGE = '<script src="https://cdn.page.test/a.js"></script>'.repeat(50);

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
        headers: { 'content-type': type },
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
    const after = siteFollowing('compression', SITE)!;
    expect(bodiesOf(after)).toEqual(bodiesOf(SITE));
    expect(after.site.resources.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
    ]);
    const { file } = after.site.resources[0]!.body as { file: string };
    expect(after.files.get(file)!.length).toBeLessThan(PAGE.length / 10);
    expect(siteFollowing('compression', after)).toBeNull();
  });

  it('have all resources at one origin, to which their text refers', () => {
    expect(bodiesOf(siteFollowing('one-origin', SITE)!)).toEqual({
      'https://page.test/': PAGE.replaceAll('cdn.page.test', 'page.test'),
      'https://page.test/a.js': 'fetch("https://page.test/b.json")',
      'https://page.test/b.json': '{}',
    });
  });

  it('stay as they are where origins have the same path, or there is one only', () => {
    const same = siteOf([
      ['https://page.test', '/', 'text/html', ''],
      ['https://cdn.page.test', '/', 'text/html', ''],
    ]);
    expect(siteFollowing('one-origin', same)).toBeNull();
    expect(siteFollowing('one-origin', siteOf([['https://page.test', '/', 'text/html', '']]))).toBeNull();
  });
});

describe('servers that follow advice', () => {
  it('change in that alone', () => {
    const before = serversFollowing(null, false);
    expect(before).toEqual({
      congestionControl: 'cubic',
      initialWindow: 10,
      priorities: 'ignored',
      altSvc: false,
    });
    expect(serversFollowing('bbr', false)).toEqual({ ...before, congestionControl: 'bbr' });
    expect(serversFollowing('initial-window', false)).toEqual({ ...before, initialWindow: 32 });
    expect(serversFollowing('offer-h3', false)).toEqual({ ...before, altSvc: true });
    expect(serversFollowing('withdraw-h3', true)).toEqual(before);
  });

  it.each([true, false])('differ from those before, with HTTP/3 offered: %s', (offersH3) => {
    const kinds = testableAdvice(offersH3);
    expect(kinds).toHaveLength(TESTABLE.length - 1);
    for (const kind of kinds) {
      const isOther = siteFollowing(kind, SITE) !== SITE;
      expect(isOther).toBe(kind === 'compression' || kind === 'one-origin');
      if (!isOther) expect(serversFollowing(kind, offersH3)).not.toEqual(serversFollowing(null, offersH3));
    }
  });
});

it('gains are shown in percent, their difference in points', () => {
  const shown = showMeasuredAdvice([
    { kind: 'bbr', predicted: 0.3, measured: { gain: 0.254, low: 0.2, high: 0.31 } },
  ]);
  expect(shown.split('\n')).toEqual([
    'advice        predicted   measured     low    high   difference',
    'send by BBR       30.0%      25.4%   20.0%   31.0%         -4.6',
  ]);
});
