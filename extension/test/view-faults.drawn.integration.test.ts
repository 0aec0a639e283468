/** The measures of contrast and of drawn text find what is hard to read, by figures that are known. */
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { QUIET_ARGS } from '@hopwise/lab/loads/protocol-args';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listContrastFaults } from './support/contrast-faults.ts';
import { listTextFaults } from './support/text-faults.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: QUIET_ARGS });
});
afterAll(() => browser?.close());

const WHITE = 'background: #fff';

async function listFaults(content: string, list: () => string[]): Promise<string[]> {
  const page = await browser.newPage();
  try {
    await page.setContent(`<body style="${WHITE}">${content}</body>`);
    return await page.evaluate(list);
  } finally {
    await page.close();
  }
}

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
  expect(await listFaults(content, listContrastFaults)).toEqual(faults);
});

test.each([
  ['<p style="font-size: 11px">small</p>', []],
  ['<p style="font-size: 10px">smaller</p>', ['“smaller” in p is 10 px high']],
  ['<p style="font-size: 12px; transform: scale(0.7)">scaled</p>', ['“scaled” in p is 8.4 px high']],
  [
    '<svg width="100" viewBox="0 0 200 40"><text y="20" font-size="16">half</text></svg>',
    ['“half” in text is 8 px high'],
  ],
  [
    '<p style="width: 20px; overflow: hidden; white-space: nowrap">a cut text</p>',
    ['“a cut text” is cut by p'],
  ],
  ['<input placeholder="a cut text" style="width: 40px">', ['“a cut text” is cut by input']],
  ['<input placeholder="a text" style="width: 100px">', []],
  ['<p>below</p><p style="position: relative; top: -34px">above</p>', ['“below” and “above” overlap in p']],
])('%s', async (content, faults) => {
  expect(await listFaults(content, listTextFaults)).toEqual(faults);
});
