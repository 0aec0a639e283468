import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { launchChromium, loadExtension } from '../../../extension/test/support/browser.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { SMALL_EXTENSIONS, writeSmallExtension } from '../../src/recorder/small-extension.ts';

const HOPWISE = fileURLToPath(new URL('../../../extension/dist/chromium', import.meta.url));

test.each(drawShare(SMALL_EXTENSIONS, 1))('Chromium runs the small extension %s', async (kind) => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>page'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const profile = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  const dir = join(profile, 'extension');
  await writeSmallExtension(kind, dir, HOPWISE);
  const context = await launchChromium(profile, loadExtension(dir));
  try {
    const own = await context.newPage();
    await own.goto('chrome://extensions');
    const extensions = await own.evaluate('chrome.developerPrivate.getExtensionsInfo()');
    expect(extensions).toContainEqual(
      expect.objectContaining({ name: `Nothing: ${kind}`, state: 'ENABLED', manifestErrors: [] }),
    );
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const worlds: string[] = [];
    session.on('Runtime.executionContextCreated', ({ context: { name } }) => void worlds.push(name));
    await session.send('Runtime.enable');
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    if (kind.startsWith('document_')) await expect.poll(() => worlds).toContain(`Nothing: ${kind}`);
    else expect(worlds).not.toContain(`Nothing: ${kind}`);
  } finally {
    await context.close();
    server.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
