import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_ID, FIREFOX_EXTENSION_ID, TRUST_TRIAL_PORT } from '@hopwise/contract';
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

test('pages cannot detect the extension by its files, messages or scripts', () => {
  // The content script is registered in the isolated world, which is the default.
  expect(manifest).not.toHaveProperty('content_scripts');
  expect(manifest).not.toHaveProperty('web_accessible_resources');
  expect(manifest).not.toHaveProperty('externally_connectable');
});

test('pages of the extension run its own scripts alone, and connect to trials of a pin’s certificate alone', () => {
  const { extension_pages: policy } = manifest.content_security_policy;
  const directives = new Map(
    policy.split('; ').map((each: string) => [each.split(' ')[0], each.split(' ').slice(1)]),
  );
  expect(directives.get('default-src')).toEqual(["'none'"]);
  // WebAssembly of the package, and no text as a script.
  expect(directives.get('script-src')).toEqual(["'self'", "'wasm-unsafe-eval'"]);
  expect(directives.get('worker-src')).toEqual(["'self'"]);
  expect(directives.get('connect-src')).toEqual(["'self'", `https://*:${TRUST_TRIAL_PORT}`]);
  for (const name of ['form-action', 'base-uri']) expect(directives.get(name)).toEqual(["'none'"]);
  // DevTools embeds the panel; pages cannot embed what is not web-accessible.
  expect(directives.has('frame-ancestors')).toBe(false);
});

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

/** First cells of the table below a heading of the README, without their backquotes. */
function firstCells(heading: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, cell]) => cell!));
}

test('the README documents every permission, and no other', () => {
  const { permissions, optional_permissions, host_permissions } = manifest;
  expect(firstCells('Permissions').sort()).toEqual(
    [...permissions, ...optional_permissions, ...host_permissions].sort(),
  );
});

test('the README maps every folder of the sources, and no other', async () => {
  const entries = await readdir(new URL('../src/', import.meta.url), {
    withFileTypes: true,
    recursive: true,
  });
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  const folders = entries.filter((entry) => entry.isDirectory());
  const paths = folders.map(({ parentPath, name }) => `${relative(root, join(parentPath, name))}/`);
  expect(firstCells('Map').sort()).toEqual(paths.sort());
});
