/** A page that loads fast, for tests that need any page. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Site } from '@hopwise/lab/sites/site';

const PNG: Site['resources'][number]['body'] = { filler: 'png', bytes: 4000, width: 20, height: 10 };

/** Writes a site of a document and an image on one origin into a folder. @param thinkMs of the image */
export async function writeSmallSite(folder: string, { image = PNG, thinkMs = 0 } = {}): Promise<void> {
  const origin = 'https://small.test';
  const resource = { origin, status: 200, thinkMs: 0 };
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name: 'small',
    entry: `${origin}/`,
    origins: [{ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
    resources: [
      { ...resource, path: '/', headers: { 'content-type': 'text/html' }, body: { file: 'index.html' } },
      { ...resource, path: '/a.png', headers: { 'content-type': 'image/png' }, body: image, thinkMs },
    ],
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Small</title><img src="/a.png">');
  await writeFile(join(folder, 'site.json'), JSON.stringify(site));
}
