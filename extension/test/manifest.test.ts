import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import { expect, test } from 'vitest';

const manifest = JSON.parse(await readFile(new URL('../manifest.json', import.meta.url), 'utf8'));

test('the id is the one that Chromium derives from the key', () => {
  const hash = createHash('sha256').update(Buffer.from(manifest.key, 'base64')).digest('hex');
  const letters = [...hash.slice(0, 32)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)));
  expect(EXTENSION_ID).toBe(letters.join(''));
});

test('the Firefox id is the one that the native host is registered for', () => {
  expect(manifest.browser_specific_settings.gecko.id).toBe(FIREFOX_EXTENSION_ID);
});

test('every permission is documented', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const { permissions, optional_permissions, host_permissions } = manifest;
  for (const permission of [...permissions, ...optional_permissions, ...host_permissions]) {
    expect(readme).toContain(`\`${permission}\``);
  }
});
