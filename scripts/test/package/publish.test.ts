/** A release: its page, its checksums, and that nothing is published by chance. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changesOf, makeRelease, placeholdersIn, renderPage } from '../../package/publish.ts';
import { readRelease } from '../../package/release.ts';

const RELEASE = { version: '1.2.0', epochSeconds: 86_400 };
const ADDRESSES = {
  repository: 'https://code.example/hopwise',
  downloads: 'https://code.example/hopwise/1.2.0',
  chromeStore: 'https://chrome.example/hopwise',
  firefoxStore: 'https://firefox.example/hopwise',
  npmCommand: 'https://npm.example/hopwise',
  npmPlaywright: 'https://npm.example/playwright',
};
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hopwise-release-'));
  mkdirSync(join(root, 'scripts/package'), { recursive: true });
  writeFileSync(
    join(root, 'CHANGELOG.md'),
    '# Changes\n\n## 1.2.0, 1970-01-02\n\n- New: [a](docs/a.md).\n\n## 1.1.0, 1970-01-01\n\n- Old.\n',
  );
});
afterEach(() => rmSync(root, { recursive: true }));

const writeAddresses = (addresses: object) =>
  writeFileSync(join(root, 'scripts/package/addresses.json'), JSON.stringify(addresses));

describe('a release', () => {
  test('has a page with its files and changes, and checksums', async () => {
    writeAddresses({ ...ADDRESSES, downloads: 'DOWNLOADS-ADDRESS' });
    const target = join(root, 'out');
    const lines: string[] = [];
    const code = await makeRelease({
      root,
      target,
      release: RELEASE,
      isDry: true,
      log: (line) => lines.push(line),
      build: async (folder) =>
        ['hopwise-1.2.0-chromium.zip', 'hopwise-host_1.2.0_amd64.deb', 'hopwise-host-1.2.0-windows.zip'].map(
          (name) => {
            writeFileSync(join(folder, name), name);
            return join(folder, name);
          },
        ),
    });
    expect(code).toBe(0);
    const sum = createHash('sha256').update('hopwise-1.2.0-chromium.zip').digest('hex');
    expect(readFileSync(join(target, 'SHA256SUMS'), 'utf8')).toContain(
      `${sum}  hopwise-1.2.0-chromium.zip\n`,
    );
    const page = readFileSync(join(target, 'RELEASE.md'), 'utf8');
    expect(page).toContain('# hopwise 1.2.0\n\nReleased on 1970-01-02.');
    expect(page).toContain(
      '| [hopwise-host_1.2.0_amd64.deb](DOWNLOADS-ADDRESS/hopwise-host_1.2.0_amd64.deb) | 1 kB | the helper for Debian 12',
    );
    expect(page).toContain('- New: [a](https://code.example/hopwise/docs/a.md).');
    expect(page).not.toMatch(/Old\.|windows/);
    expect(lines.join('\n')).toContain('hopwise-1.2.0-chromium.zip  26 bytes');
  });

  test('is not published before every address is filled in', async () => {
    writeAddresses({ ...ADDRESSES, npmCommand: 'NPM-ADDRESS-OF-THE-COMMAND' });
    const lines: string[] = [];
    const code = await makeRelease({
      root,
      target: join(root, 'out'),
      release: RELEASE,
      isDry: false,
      log: (line) => lines.push(line),
      build: async () => {
        throw new Error('built');
      },
    });
    expect(code).toBe(2);
    expect(lines).toEqual([
      expect.stringMatching(/addresses\.json: expected addresses in place of npmCommand/),
    ]);
  });

  test('leaves all addresses of this checkout open, in one file', () => {
    const addresses = JSON.parse(readFileSync(join(ROOT, 'scripts/package/addresses.json'), 'utf8'));
    expect(placeholdersIn(addresses)).toEqual(Object.keys(ADDRESSES));
  });

  test('has changes of its version', () => {
    expect(changesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), '1.1.0')).toBe('- Old.');
    expect(() => changesOf('# Changes\n', '1.2.0')).toThrow('expected changes of 1.2.0, found none');
    const changes = changesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), readRelease(ROOT).version);
    expect(renderPage(RELEASE, [], changes, ADDRESSES)).not.toMatch(/\]\((?!https:)/);
  });
});
