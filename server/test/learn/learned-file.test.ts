import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readOrMakeKey, readState, StateError, stateFile, writeState } from '../../src/learn/learned-file.ts';
import { WindowController } from '../../src/learn/window-controller.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-server-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('reads what it wrote', () => {
  expect(readState(folder)).toEqual({ explorer: {}, clusters: {} });
  const controller = new WindowController([10, 20], 'p80', () => 0.5);
  controller.countConnection('cluster', 7);
  writeState(folder, controller.state);
  expect(readState(folder)).toEqual(controller.state);
  expect(statSync(stateFile(folder)).mode & 0o777).toBe(0o600);
});

it.each([
  '',
  '{}',
  '{"format":"hopwise-server","version":2}',
  '{"format":"hopwise-server","version":1,"explorer":{"a":1},"clusters":{}}',
])('refuses %j in one line that names the file', (text) => {
  writeFileSync(stateFile(folder), text);
  expect(() => readState(folder)).toThrow(StateError);
  expect(() => readState(folder)).toThrow(/^[^\n]*learned\.json: [^\n]*expected[^\n]*$/);
});

it('makes a key once', () => {
  const key = readOrMakeKey(folder);
  expect(key).toHaveLength(32);
  expect(readOrMakeKey(folder)).toEqual(key);
  expect(readFileSync(join(folder, 'key'))).toEqual(key);
  writeFileSync(join(folder, 'key'), 'short');
  expect(() => readOrMakeKey(folder)).toThrow(/key: expected 32 bytes, got 5/);
});

it('leaves no part of a key where it cannot be written', () => {
  const module = new URL('../../src/learn/learned-file.ts', import.meta.url).href;
  const code = `(await import(${JSON.stringify(module)})).readOrMakeKey(${JSON.stringify(folder)})`;
  // Files can be made, as on a full disk, but nothing can be written to them.
  const command = `trap '' XFSZ; ulimit -f 0; exec "$0" --conditions=source --input-type=module -e "$1"`;
  const { stderr, status } = spawnSync('sh', ['-c', command, process.execPath, code], { encoding: 'utf8' });
  expect(stderr).toContain('EFBIG');
  expect(status).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
  expect(readOrMakeKey(folder)).toHaveLength(32);
});
