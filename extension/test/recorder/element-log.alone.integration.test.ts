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

test('of the time in which a page inserts 20,000 elements, the recorder adds a fraction', async () => {
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
  const shares = await page.evaluate(() => {
    const { ElementLog: Log } = (globalThis as unknown as { log: { ElementLog: typeof ElementLog } }).log;
    const observer = new MutationObserver(() => {});
    observer.observe(document, { childList: true, subtree: true });
    const measure = (isParsing: boolean) => {
      const startMs = performance.now();
      for (let i = 0; i < 20_000; i++) {
        const made = document.createElement(i % 40 === 0 ? 'img' : 'p');
        if (made instanceof HTMLImageElement) made.src = `/~image-${i}.png`;
        document.body.append(made);
      }
      const insertedMs = performance.now();
      const records = observer.takeRecords();
      const log = new Log();
      const takenMs = performance.now();
      log.add(records, null, isParsing, 0);
      const addedMs = performance.now();
      for (let i = 0; i < 20_000; i += 40) log.findAuthor(`${location.origin}/~image-${i}.png`);
      document.body.replaceChildren();
      observer.takeRecords();
      return { insertMs: insertedMs - startMs, logMs: addedMs - takenMs };
    };
    const shareOf = (isParsing: boolean) => {
      const times = Array.from({ length: 10 }, () => measure(isParsing));
      const shortest = (key: 'insertMs' | 'logMs') => Math.min(...times.map((each) => each[key]));
      return shortest('logMs') / shortest('insertMs');
    };
    return { script: shareOf(false), parser: shareOf(true) };
  });
  console.log(`20,000 elements, the log's share: ${JSON.stringify(shares)}`);
  // It looks at 1,000 of the scripts' nodes, and at 10,000 of the parser's.
  expect(shares.script).toBeLessThan(0.05);
  expect(shares.parser).toBeLessThan(0.3);
});
