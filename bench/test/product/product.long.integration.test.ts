/** `npm run bench -- product` on one page and network, in both browsers. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firefoxPath } from '../../../extension/test/firefox/firefox.ts';
import { readVisits } from '../../src/product/store.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'bench/src/product/main.ts');

let out: string;
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'hopwise-product-test-'));
});
afterAll(() => rm(out, { recursive: true, force: true }));

const bench = (...words: string[]) =>
  run(process.execPath, ['--conditions=source', SCRIPT, '--out', out, '--json', ...words], {
    maxBuffer: 1e7,
  });

it('measures each arm beside the browser alone, and keeps the visits', async () => {
  const words = [
    '--page',
    'shop',
    '--networks',
    'udp-policed',
    '--visits',
    '3',
    '--arms',
    'record,auto,verify',
    '--keep-loads',
  ];
  const { stdout, stderr } = await bench(...words);
  const { arms: figures, answers } = JSON.parse(stdout);
  expect(figures.map(({ arm, visits }: { arm: string; visits: number }) => `${arm} ${visits}`)).toEqual([
    'record 3',
    'auto 3',
    'verify 3',
    'h2 3',
  ]);
  expect(answers).toHaveLength(9);
  expect(answers).toContainEqual(
    expect.objectContaining({
      network: 'udp-policed',
      page: 'shop',
      visit: 3,
      arm: 'record',
      // Over HTTP/3, which is policed.
      verdict: expect.stringContaining('off HTTP/3'),
      protocols: [expect.objectContaining({ protocol: 'h2' })],
    }),
  );
  expect(stderr).toContain('udp-policed, shop, visit 3: ');
  expect(await readFile(join(out, 'product-chromium.svg'), 'utf8')).toContain('auto on udp-policed: ');
  const again = await bench(...words);
  expect(JSON.parse(again.stdout)).toEqual({ arms: figures, answers });
  expect(again.stderr).not.toContain('visit');
});

it.skipIf(firefoxPath() === null)(
  'measures Firefox, which keeps to HTTP/3 on later visits, beside Chromium, whose visits stay',
  async () => {
    const { stdout } = await bench(
      '--page',
      'shop',
      '--networks',
      'fast',
      '--visits',
      '2',
      '--arms',
      'auto',
      '--browser',
      'firefox',
    );
    const { arms: figures } = JSON.parse(stdout);
    const firefox = figures.filter(({ browser }: { browser: string }) => browser === 'firefox');
    expect(firefox).toMatchObject([{ arm: 'auto', network: 'fast', visits: 2 }]);
    expect(figures.length).toBeGreaterThan(firefox.length);
    const visits = await readVisits(out);
    const later = visits.filter(
      ({ browser, arm, visit }) => browser === 'firefox' && arm === 'off' && visit === 2,
    );
    expect(later.map(({ h3Share }) => h3Share > 0.9)).toEqual([true]);
    expect(await readFile(join(out, 'product-firefox.svg'), 'utf8')).toContain('auto on fast: ');
  },
);

it('refuses unknown arms and networks in one line', async () => {
  for (const [words, message] of [
    [['--arms', 'on'], /^hopwise: --arms: expected some of .*\n$/],
    [['--browser', 'firefox', '--arms', 'permissions'], /^hopwise: --arms: expected some of .*\n$/],
    [['--networks', 'lte-por'], /^hopwise: network "lte-por": expected one of .*\n$/],
  ] as const) {
    const refused = await bench(...words).catch((error) => error);
    expect(refused.stderr).toMatch(message);
    expect(refused.code).toBe(2);
  }
});
