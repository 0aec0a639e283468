/** `npm run bench -- product` on one page and network. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, it } from 'vitest';

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
  ];
  const { stdout, stderr } = await bench(...words);
  const figures = JSON.parse(stdout);
  expect(figures.map(({ arm, visits }: { arm: string; visits: number }) => `${arm} ${visits}`)).toEqual([
    'record 3',
    'auto 3',
    'verify 3',
    'h2 3',
  ]);
  expect(stderr).toContain('udp-policed, shop, visit 3: ');
  expect(await readFile(join(out, 'product.svg'), 'utf8')).toContain('auto on udp-policed: ');
  const again = await bench(...words);
  expect(JSON.parse(again.stdout)).toEqual(figures);
  expect(again.stderr).not.toContain('visit');
});

it('refuses unknown arms and networks in one line', async () => {
  for (const [words, message] of [
    [['--arms', 'on'], /^hopwise: --arms: expected some of .*\n$/],
    [['--networks', 'lte-por'], /^hopwise: network "lte-por": expected one of .*\n$/],
  ] as const) {
    const refused = await bench(...words).catch((error) => error);
    expect(refused.stderr).toMatch(message);
    expect(refused.code).toBe(2);
  }
});
