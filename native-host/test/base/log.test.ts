import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLog } from '../../src/base/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('is readable for its user only', () => {
  const path = join(folder, 'state', 'host.log');
  openLog(path)('first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \d+ first\n$/);
});

it('removes control characters from a line', () => {
  const path = join(folder, 'host.log');
  openLog(path)('one\n2026 two\r\x1b[2J');
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
});

it('rotates at a megabyte and keeps one former file', () => {
  const path = join(folder, 'host.log');
  const log = openLog(path);
  for (let line = 0; line < 1200; line += 1) log('x'.repeat(2000));
  expect(statSync(path).size).toBeLessThan(1.1 * 1024 * 1024);
  expect(statSync(`${path}.1`).size).toBeLessThan(1.1 * 1024 * 1024);
  expect(statSync(`${path}.1`).size).toBeGreaterThan(1024 * 1024);
});

it('never stops the work', () => {
  expect(() => openLog('/dev/null/host.log')('lost')).not.toThrow();
  // Every write to it fails as on a full disk.
  if (existsSync('/dev/full')) expect(() => openLog('/dev/full')('lost')).not.toThrow();
});
