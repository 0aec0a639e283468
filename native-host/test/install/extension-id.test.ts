import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import { expect, it } from 'vitest';

const manifest = JSON.parse(
  readFileSync(new URL('../../../extension/manifest.json', import.meta.url), 'utf8'),
) as {
  key: string;
  browser_specific_settings: { gecko: { id: string } };
};

it("is the one that Chromium makes of the extension's key", () => {
  // The first 128 bits of the key's SHA-256, each hexadecimal digit as a letter from a on.
  const digest = createHash('sha256').update(Buffer.from(manifest.key, 'base64')).digest('hex').slice(0, 32);
  const id = [...digest].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
  expect(EXTENSION_ID).toBe(id);
});

it("is the one of the extension's manifest in Firefox", () => {
  expect(FIREFOX_EXTENSION_ID).toBe(manifest.browser_specific_settings.gecko.id);
});
