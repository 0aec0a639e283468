import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeOf } from '../../bin/check-baseline.ts';
import { junitOf } from '../../bin/check-junit.ts';
import { type CheckRow, markdownCheck, showCheck, showJudgement } from '../../bin/show-check.ts';
import { chromiumHar, harOf } from '../support/hars.ts';
import { hopwise } from '../support/hopwise.ts';

const atRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const EXAMPLE = atRoot('docs/examples/check');
let dir = '';
const file = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-check-'));
  const har = chromiumHar() as { log: { entries: object[] } };
  const paints = {
    onLoad: 500,
    onContentLoad: 300,
    _firstContentfulPaint: 200,
    _largestContentfulPaint: 240,
  };
  writeFileSync(file('page.har'), JSON.stringify(harOf(har.log.entries, paints)));
  writeFileSync(file('unpainted.har'), JSON.stringify(har));
  writeFileSync(file('paint.json'), '{"firstPaintMs": 10}');
  writeFileSync(file('networks.json'), '{"lte": {"rttMs": 70, "downMbps": 12, "upMbps": 12, "loss": 0}}');
  writeFileSync(file('wide.json'), '{"loadTimeMs": 60000, "originsOnBest": 0, "gainLeft": 1}');
  writeFileSync(file('narrow.json'), '{"loadTimeMs": 10, "gainLeft": 1}');
  writeFileSync(file('unknown.json'), '{"networks": {"dsl": {"loadTimeMs": 10}}}');
});

afterAll(() => rmSync(dir, { recursive: true }));

function check(pages: string[], budget: string, ...flags: string[]) {
  const networks = file('networks.json');
  const words = ['check', ...pages, '--networks', networks, '--budget', file(budget), ...flags];
  return hopwise(words);
}

describe('hopwise check', () => {
  it('ends with 0 within the budget', async () => {
    const { status, stdout } = await check([file('page.har')], 'wide.json');
    expect(stdout).toMatch(
      /^page +network +load time +low +high +first paint +largest paint +on best +gain left\n/,
    );
    expect(stdout).toContain('\nWithin the budget: 3 of 3 limits.\n');
    expect(status).toBe(0);
  });

  it('judges the other files where one cannot be used, and ends with 2', async () => {
    writeFileSync(file('broken.har'), '{"log": {"entries"');
    const pages = [file('broken.har'), file('page.har')];
    const { status, stdout, stderr } = await check(pages, 'narrow.json', '--markdown', file('broken.md'));
    expect(status).toBe(2);
    expect(stderr).toContain(`hopwise: ${file('broken.har')}: `);
    expect(stdout).toContain('\nOver the budget: 1 of 2 limits.\n');
    expect(readFileSync(file('broken.md'), 'utf8')).toContain('page.har');
    const none = await check([file('broken.har'), file('missing.har')], 'narrow.json');
    expect(none).toMatchObject({ status: 2, stdout: '' });
    expect(none.stderr.match(/^hopwise: /gm)).toHaveLength(2);
  });

  it('ends with 1 and a line for each breach', async () => {
    const reports = ['--junit', file('check.xml'), '--markdown', file('check.md')];
    const { status, stdout } = await check([file('page.har'), file('page.har')], 'narrow.json', ...reports);
    const breach = /^page\.har on lte: load time: \d+ ms, at most 10 ms$/gm;
    expect(stdout.match(breach)).toHaveLength(2);
    expect(stdout).toContain('\nOver the budget: 2 of 4 limits.\n');
    expect(status).toBe(1);
    expect(readFileSync(file('check.xml'), 'utf8')).toContain(
      'tests="4" failures="2" errors="0" skipped="0"',
    );
    expect(readFileSync(file('check.md'), 'utf8')).toContain('Over the budget: 2 of 4 limits.');
  });

  it('does not judge a paint that the recording does not show, and says so', async () => {
    const pages = [file('page.har'), file('unpainted.har')];
    const reports = ['--junit', file('paint.xml')];
    const { status, stdout } = await check(pages, 'paint.json', ...reports);
    expect(stdout).toMatch(/^page\.har on lte: first paint: \d+ ms, at most 10 ms$/m);
    expect(stdout).toMatch(/^unpainted\.har +lte +\d+ ms +\d+ ms +\d+ ms +– +– /m);
    expect(stdout).toContain('\nunpainted.har: first paint: not judged, as the recording shows none\n');
    expect(stdout).toContain('\nOver the budget: 1 of 1 limits, 1 not judged.\n');
    expect(status).toBe(1);
    expect(readFileSync(file('paint.xml'), 'utf8')).toContain(
      '<skipped message="the recording shows none"/>',
    );
  });

  it('says which load is not understood, once for all networks', async () => {
    const { log } = chromiumHar() as { log: { entries: object[] } };
    writeFileSync(file('endless.har'), JSON.stringify(harOf(log.entries, {})));
    const words = ['check', file('endless.har'), '--network', 'lte,cable', '--budget', file('wide.json')];
    const { status, stdout } = await hopwise(words);
    const why = 'The recording has no load event, so that its load time is a guess.';
    expect(stdout.match(/^endless\.har: .*/gm)).toEqual([
      `endless.har: its load is not understood, so that the figures may be wrong: ${why}`,
    ]);
    expect(status).toBe(0);
    const { pages } = JSON.parse((await hopwise([...words, '--json'])).stdout);
    expect(pages.map(({ misunderstood }: CheckRow) => misunderstood)).toEqual([why, why]);
  });

  it('refuses a budget of which nothing can be judged', async () => {
    const { status, stdout, stderr } = await check([file('unpainted.har')], 'paint.json');
    expect(stderr).toMatch(/paint\.json: expected a limit that can be judged, got only limits of paints/);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('judges the largest paint', async () => {
    writeFileSync(file('largest.json'), '{"largestPaintMs": 10}');
    const { stdout } = await check([file('page.har')], 'largest.json');
    expect(stdout).toMatch(/^page\.har on lte: largest paint: \d+ ms, at most 10 ms$/m);
  });

  it('prints breaches as annotations of GitHub', async () => {
    const { stdout } = await check([file('page.har')], 'narrow.json', '--github');
    expect(stdout).toMatch(
      /^::error file=.*page\.har,title=hopwise check on lte::load time: \d+ ms, at most 10 ms$/m,
    );
  });

  it('takes usual networks by name, and some of the file', async () => {
    const budget = ['--budget', file('wide.json'), '--json'];
    const networksOf = async (...flags: string[]) => {
      const { stdout } = await hopwise(['check', file('page.har'), ...budget, ...flags]);
      return JSON.parse(stdout).pages.map(({ network }: { network: string }) => network);
    };
    expect(await networksOf('--network', 'cable,3g')).toEqual(['cable', '3g']);
    expect(await networksOf('--networks', file('networks.json'), '--network', 'lte')).toEqual(['lte']);
    const { status, stderr } = await hopwise(['check', file('page.har'), ...budget, '--network', 'isdn']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^hopwise: --network: expected some of fast, .*, got "isdn"\n$/),
    });
  });

  it('prints the figures as JSON', async () => {
    const { status, stdout } = await check([file('page.har')], 'narrow.json', '--json');
    const { breaches, pages } = JSON.parse(stdout);
    expect(breaches).toBe(1);
    expect(pages[0]).toMatchObject({ file: file('page.har'), network: 'lte' });
    expect(pages[0].judgements).toEqual([
      { figure: 'loadTimeMs', value: pages[0].loadTimeMs, limit: 10, isBreach: true },
      { figure: 'gainLeft', value: pages[0].gainLeft, limit: 1, isBreach: false },
    ]);
    expect(status).toBe(1);
  });

  it.each([
    [
      'a budget of another network',
      'unknown.json',
      [],
      /unknown\.json: networks\.dsl: expected one of the netw/,
    ],
    ['what is no budget', 'page.har', [], /page\.har: log: expected no entry of this name/],
    [
      'a budget that is not there',
      'none.json',
      [],
      /none\.json: expected a readable file, but there is none/,
    ],
    [
      'a report that cannot be written',
      'wide.json',
      ['--junit', '/none/a.xml'],
      /a\.xml: expected a file that can/,
    ],
  ])('names %s on one line and ends with 2', async (_, budget, flags, line) => {
    const { status, stdout, stderr } = await check([file('page.har')], budget, ...flags);
    const lines = stderr.trim().split('\n');
    expect(lines.at(-1)).toMatch(line);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('accepts the files of its example', async () => {
    const page = atRoot('e2e/examples/playwright/pages/app.json.gz');
    const words = ['--networks', join(EXAMPLE, 'networks.json'), '--budget', join(EXAMPLE, 'budget.json')];
    const { status, stdout } = await hopwise(['check', page, ...words]);
    expect(stdout).toContain('Within the budget');
    expect(status).toBe(0);
    // DevTools exports show no paints.
    const exported = await hopwise(['check', file('unpainted.har'), ...words]);
    expect(exported.stdout).toContain('Within the budget: 9 of 9 limits, 3 not judged.');
    expect(exported.status).toBe(0);
  });
});

const ROW: CheckRow = {
  file: 'a<b>.har',
  name: 'a<b>.har',
  network: 'lte',
  requests: 10,
  bytes: 400_000,
  loadTimeMs: 4100,
  firstPaintMs: null,
  largestPaintMs: null,
  originsOnBest: 0.5,
  misunderstood: null,
  gainLeft: 0.1004,
  range: { low: 3800, high: 4600 },
  judgements: [
    { figure: 'loadTimeMs', value: 4100, limit: 4000, isBreach: true },
    { figure: 'originsOnBest', value: 0.5, limit: 0.5, isBreach: false },
  ],
  unjudged: [],
  change: null,
};

describe('without limits', () => {
  const words = () => ['check', file('page.har'), '--networks', file('networks.json')];

  it('shows the figures, and that nothing was judged', async () => {
    const { status, stdout } = await hopwise(words());
    expect(stdout).toMatch(/^page\.har +lte +\d+ ms/m);
    expect(stdout).toMatch(/\nNothing was judged: neither --budget nor --baseline was given\.\n$/);
    expect(status).toBe(0);
  });

  it('prints the first baseline', async () => {
    writeFileSync(file('first.json'), (await hopwise([...words(), '--json'])).stdout);
    const { status, stdout } = await hopwise([...words(), '--baseline', file('first.json')]);
    expect(stdout).toContain('Slower than the baseline by more than the noise: 0 of 1.');
    expect(status).toBe(0);
  });
});

describe('a baseline', () => {
  const baselineOf = (scale: number) => {
    const answer = JSON.parse(readFileSync(file('now.json'), 'utf8'));
    for (const page of answer.pages) {
      page.loadTimeMs *= scale;
      page.range = { low: page.loadTimeMs * 0.95, high: page.loadTimeMs * 1.05 };
    }
    writeFileSync(file('last.json'), JSON.stringify(answer));
    return ['--baseline', file('last.json')];
  };
  const compare = (...flags: string[]) =>
    hopwise(['check', file('page.har'), '--networks', file('networks.json'), ...flags]);

  beforeAll(async () => {
    const { stdout } = await check([file('page.har')], 'wide.json', '--json');
    writeFileSync(file('now.json'), stdout);
  });

  it('is met by itself', async () => {
    const { status, stdout } = await compare(...baselineOf(1));
    expect(stdout).toMatch(/ before +change +noise +verdict\n/);
    expect(stdout).toMatch(/ within the noise\n/);
    expect(stdout).toContain('Slower than the baseline by more than the noise: 0 of 1.');
    expect(status).toBe(0);
  });

  it('fails where a page became slower by more than the noise', async () => {
    const { status, stdout } = await compare(...baselineOf(0.25), '--github');
    expect(stdout).toMatch(
      /^page\.har on lte: load time: \d+ ms, \d+ ms before: \+300%, noise \d+%: slower$/m,
    );
    expect(stdout).toMatch(/^::error file=.*::load time: .* \+300%25, noise \d+%25: slower$/m);
    expect(status).toBe(1);
  });

  it('says where a page became faster', async () => {
    const { status, stdout } = await compare(...baselineOf(4));
    expect({ status, faster: / faster\n/.test(stdout) }).toEqual({ status: 0, faster: true });
  });

  it('says how the page itself changed, and what is no longer checked', async () => {
    const answer = JSON.parse(readFileSync(file('now.json'), 'utf8'));
    const [page] = answer.pages;
    const { requests, bytes } = page;
    Object.assign(page, { requests: 99, bytes: bytes + 5_000 });
    answer.pages.push({ ...page, file: 'home.har', network: '3g' });
    writeFileSync(file('last.json'), JSON.stringify(answer));
    const { status, stdout } = await compare('--baseline', file('last.json'), '--markdown', file('last.md'));
    const kb = Math.round(bytes / 1000);
    const changed = `${requests} requests, 99 before; ${kb} kB, ${kb + 5} kB before`;
    expect(stdout).toContain(`\npage.har: ${changed}\nhome.har on 3g: in the baseline, not in this check\n`);
    expect(readFileSync(file('last.md'), 'utf8')).toContain(`- page.har: ${changed}`);
    expect(status).toBe(0);
  });

  it('knows a file by its other names', async () => {
    const answer = JSON.parse(readFileSync(file('now.json'), 'utf8'));
    answer.pages[0].file = `${dirname(file('page.har'))}/./page.har`;
    writeFileSync(file('last.json'), JSON.stringify(answer));
    expect((await compare('--baseline', file('last.json'))).stdout).toMatch(/ within the noise\n/);
  });

  it('is refused where its load times cannot be compared with', async () => {
    const answer = JSON.parse(readFileSync(file('now.json'), 'utf8'));
    answer.pages[0].loadTimeMs = 0;
    writeFileSync(file('last.json'), JSON.stringify(answer));
    const { status, stderr } = await compare('--baseline', file('last.json'));
    expect(stderr).toMatch(/last\.json: pages\.0\.loadTimeMs: expected milliseconds above 0$/m);
    expect(status).toBe(2);
  });

  it('is refused in one line where it is something else', async () => {
    const { status, stdout, stderr } = await compare('--baseline', file('networks.json'));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /networks\.json: pages: expected the pages of hopwise check/,
    );
  });

  it('judges each difference by the noise of both', () => {
    const at = (loadTimeMs: number, spread: number) => ({
      file: 'a',
      network: 'b',
      loadTimeMs,
      range: { low: loadTimeMs - spread, high: loadTimeMs + spread },
    });
    // A tenth on either side is a deviation of 7.8% of the logarithm, of the ratio 11%; 2.576 of these are 28.4%: +33%, −25%.
    expect(changeOf(at(1320, 132), [at(1000, 100)])?.verdict).toBe('within the noise');
    expect(changeOf(at(1340, 134), [at(1000, 100)])?.verdict).toBe('slower');
    expect(changeOf(at(740, 74), [at(1000, 100)])?.verdict).toBe('faster');
    // Twice as slow with twice the range, of a fifth: e^(2.576 · 0.22) − 1 = 77%.
    expect(changeOf(at(2000, 400), [at(1000, 200)])).toMatchObject({
      noise: expect.closeTo(0.766, 2),
      verdict: 'slower',
    });
    expect(changeOf({ ...at(1000, 1), network: 'c' }, [at(1000, 1)])).toBeNull();
  });
});

describe('a report', () => {
  it('shows figures and breaches', () => {
    expect(showCheck([ROW])).toBe(
      [
        'page      network  load time      low     high  first paint  largest paint  on best  gain left',
        'a<b>.har  lte        4100 ms  3800 ms  4600 ms            –              –      50%        10%',
        '',
        'a<b>.har on lte: load time: 4100 ms, at most 4000 ms',
        'Over the budget: 1 of 2 limits.',
      ].join('\n'),
    );
  });

  it('counts a single request as one, and gives no sign to no change', () => {
    const change = {
      beforeMs: 4100,
      beforeRequests: 21,
      beforeBytes: null,
      growth: 0,
      noise: 0.3,
      verdict: 'within the noise',
    } as const;
    const text = showCheck([{ ...ROW, requests: 1, change }]);
    expect(text).toContain('\na<b>.har: 1 request, 21 before\n');
    expect(text).toMatch(/ 4100 ms +0% +30% +within the noise\n/);
  });

  it('does not call it within the budget where no limit could be judged', () => {
    const text = showCheck([{ ...ROW, judgements: [], unjudged: ['firstPaintMs'] }]);
    expect(text.split('\n').at(-1)).toBe('No limit of the budget could be judged.');
  });

  it('does not show a breach as equality', () => {
    const breach = { figure: 'gainLeft', value: 0.1004, limit: 0.1, isBreach: true } as const;
    // Both are 10% and 10.0%.
    expect(showJudgement(breach)).toBe('gain left: 10.04%, at most 10.00%');
  });

  it('escapes names in Markdown', () => {
    expect(markdownCheck([ROW])).toContain(
      '| a\\<b\\>.har | lte | 4100 ms | 3800 ms | 4600 ms | – | – | 50% | 10% |',
    );
  });

  it('is JUnit XML', () => {
    const bell = String.fromCharCode(7);
    expect(junitOf([{ ...ROW, network: `l${bell}te` }])).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="hopwise check" tests="2" failures="1" errors="0" skipped="0">
  <testsuite name="a&lt;b&gt;.har on l\uFFFDte" tests="2" failures="1" errors="0" skipped="0">
    <testcase classname="a&lt;b&gt;.har.l\uFFFDte" name="loadTimeMs">
      <failure message="load time: 4100 ms, at most 4000 ms" type="budget"/>
    </testcase>
    <testcase classname="a&lt;b&gt;.har.l\uFFFDte" name="originsOnBest">
      <system-out>origins on their best protocol: 50%, at least 50%</system-out>
    </testcase>
  </testsuite>
</testsuites>
`,
    );
  });
});
