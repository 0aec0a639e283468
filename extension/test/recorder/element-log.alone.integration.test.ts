/** The main thread's time that the recorder takes of a page that inserts many elements. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import type { ElementLog } from '../../src/recorder/element-log.ts';
import { launchChromium } from '../support/browser.ts';
import { startHardSite } from '../support/hard-site.ts';

test('a page that inserts 20,000 elements, of which 500 request something, is held up for 10 ms at most', async () => {
  const source = fileURLToPath(new URL('../../src/recorder/element-log.ts', import.meta.url));
  const bundle = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'log',
  });
  const site = await startHardSite();
  const profile = await mkdtemp(join(tmpdir(), 'hopwise-log-'));
  const context = await launchChromium(profile);
  onTestFinished(async () => {
    await context.close();
    await site.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  const page = await context.newPage();
  await page.goto(`${site.url}/~frame.html`);
  await page.addScriptTag({ content: bundle.outputFiles[0]!.text });
  const timesMs = await page.evaluate(() => {
    const { ElementLog: Log } = (globalThis as unknown as { log: { ElementLog: typeof ElementLog } }).log;
    const observer = new MutationObserver(() => {});
    observer.observe(document, { childList: true, subtree: true });
    const measure = (isParsing: boolean) => {
      for (let i = 0; i < 20_000; i++) {
        const made = document.createElement(i % 40 === 0 ? 'img' : 'p');
        if (made instanceof HTMLImageElement) made.src = `/~image-${i}.png`;
        document.body.append(made);
      }
      const records = observer.takeRecords();
      const log = new Log();
      const startMs = performance.now();
      log.add(records, null, isParsing, 0);
      for (let i = 0; i < 20_000; i += 40) log.findAuthor(`${location.origin}/~image-${i}.png`);
      return performance.now() - startMs;
    };
    return Array.from({ length: 16 }, (_, i) => measure(i % 2 === 0));
  });
  console.log(`20,000 elements: ${timesMs.map((ms) => ms.toFixed(1)).join(', ')} ms`);
  expect(Math.min(...timesMs)).toBeLessThanOrEqual(10);
});
