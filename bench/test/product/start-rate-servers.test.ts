import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { siteSchema } from '@hopwise/lab/sites/site';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProductArm } from '../../src/product/arms.ts';
import { stackOf, writeServed } from '../../src/product/start-rate-servers.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-servers-'));
});
afterEach(() => rm(dir, { recursive: true }));

const ORIGINS = [
  { origin: 'https://a.test', protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 },
  { origin: 'https://img.a.test', protocols: ['h1', 'h2'], extraRttMs: 0 },
  { origin: 'https://b.test', protocols: ['h1', 'h2'], extraRttMs: 0 },
];

async function serveTo(arms: ProductArm[]) {
  const own = join(dir, 'page');
  await mkdir(own);
  const site = siteSchema.parse({
    format: 'hopwise-site',
    version: 1,
    name: 'page',
    entry: 'https://a.test/',
    origins: ORIGINS,
    resources: [],
  });
  await writeFile(join(own, 'site.json'), JSON.stringify(site));
  const served = await writeServed(dir, { name: 'page', dir: own, site }, arms);
  return async (arm: ProductArm) => {
    const { origins } = JSON.parse(await readFile(join(served(arm), 'site.json'), 'utf8'));
    return origins.map(({ protocols, startRate }: (typeof origins)[0]) => [protocols.join(), startRate]);
  };
}

test('over HTTP/3 all origins offer it, and those of the page’s site begin at a rate in the arm', async () => {
  const arms: ProductArm[] = ['off', 'start-rate-h3'];
  const originsOf = await serveTo(arms);
  const of = (startRate: boolean) => [
    ['h1,h2,h3', startRate],
    ['h1,h2,h3', startRate],
    ['h1,h2,h3', false],
  ];
  expect([await originsOf('off'), await originsOf('start-rate-h3')]).toEqual([of(false), of(true)]);
  expect(stackOf(arms)).toBe('nginx-quiche');
});

test('over TCP none offers HTTP/3', async () => {
  const originsOf = await serveTo(['off', 'start-rate']);
  expect(await originsOf('start-rate')).toEqual([
    ['h1,h2', true],
    ['h1,h2', true],
    ['h1,h2', false],
  ]);
  expect(stackOf(['off', 'start-rate'])).toBe('go');
});

test('arms whose servers differ are not measured together', () => {
  expect(() => stackOf(['off', 'start-rate', 'start-rate-h3'])).toThrow(
    'expected one of start-rate and start-rate-h3',
  );
});
