/** A tiny site for the lab's own tests. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Site } from '../../src/sites/site.ts';

export const MAIN = 'https://www.lab.test';
export const FAR = 'https://far.lab.test';
export const OLD = 'https://old.lab.test';
/** Round trip of `FAR` beyond the link's. */
export const FAR_MS = 25;

const IMAGES = 6;

/** Requests of a load: the page, its images on two origins, and the icon. */
export const PAGE_REQUESTS = 1 + 2 * IMAGES;

export async function writeTinySite(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-site-'));
  const images = [MAIN, FAR].flatMap((origin) =>
    Array.from({ length: IMAGES }, (_, i) => ({ origin, path: `/image.png?n=${i}` })),
  );
  const html = `<!doctype html><title>Tiny</title>${images.map(({ origin, path }) => `<img src="${origin}${path}">`).join('')}`;
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name: 'tiny',
    entry: `${MAIN}/`,
    origins: [
      { origin: MAIN, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 },
      { origin: FAR, protocols: ['h1', 'h2', 'h3'], extraRttMs: FAR_MS },
      { origin: OLD, protocols: ['h1'], extraRttMs: 0 },
    ],
    resources: [
      {
        origin: MAIN,
        path: '/',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: { file: 'index.html' },
        thinkMs: 0,
      },
      ...images.map(({ origin, path }) => ({
        origin,
        path,
        status: 200,
        headers: { 'content-type': 'image/png' },
        body: { filler: 'png' as const, bytes: 4000, width: 20, height: 10 },
        thinkMs: 0,
      })),
      ...[4e5, 1e6, 3e6, 12e6].map((bytes) => ({
        origin: MAIN,
        path: `/bytes?${bytes}`,
        status: 200,
        headers: { 'content-type': 'application/octet-stream' },
        body: { filler: 'bytes' as const, bytes },
        thinkMs: 0,
      })),
      {
        origin: OLD,
        path: '/slow',
        status: 200,
        headers: {},
        body: { filler: 'bytes', bytes: 10 },
        thinkMs: 60,
      },
    ],
  };
  await writeFile(join(dir, 'site.json'), JSON.stringify(site));
  await writeFile(join(dir, 'index.html'), html);
  return dir;
}
