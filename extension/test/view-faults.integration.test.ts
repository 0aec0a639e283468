/** The measure of contrast finds what is hard to read, by figures that are known. */
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { QUIET_ARGS } from '@hopwise/lab/loads/protocol-args';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listContrastFaults } from './support/contrast-faults.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: QUIET_ARGS });
});
afterAll(() => browser?.close());

const WHITE = 'background: #fff';

test.each([
  ['<p style="color: #767676">4.54</p>', []],
  ['<p style="color: #777">4.48</p>', ['“4.48” (p): 4.48']],
  ['<p style="color: #949494; font-size: 24px">large</p>', []],
  ['<p style="color: #999; font-size: 24px">large</p>', ['“large” (p): 2.85']],
  ['<p style="color: #000; opacity: 0.5">faint</p>', ['“faint” (p): 3.98']],
  ['<div style="background: #000"><p style="color: #333">dark</p></div>', ['“dark” (p): 1.66']],
  ['<button disabled style="color: #ddd">off</button>', []],
  [
    '<svg width="200" height="40"><rect width="200" height="40" fill="#000"/><text y="20" fill="#333">bar</text></svg>',
    ['“bar” (text): 1.66'],
  ],
  [
    '<svg width="200" height="40"><rect width="200" height="40" fill="#000"/><text y="20" fill="#333" stroke="#fff" paint-order="stroke">halo</text></svg>',
    [],
  ],
])('%s', async (content, faults) => {
  const page = await browser.newPage();
  try {
    await page.setContent(`<body style="${WHITE}">${content}</body>`);
    expect(await page.evaluate(listContrastFaults)).toEqual(faults);
  } finally {
    await page.close();
  }
});
