import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogTail } from '../../src/log/log-tail.ts';

let folder: string;
let log: string;
let tail: LogTail;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-log-'));
  log = join(folder, 'access.log');
  writeFileSync(log, 'before\n');
  tail = await LogTail.open(log);
});
afterEach(async () => {
  await tail.close();
  rmSync(folder, { recursive: true });
});

async function newLines(): Promise<string[]> {
  const lines: string[] = [];
  await tail.readNew((line) => lines.push(line));
  return lines;
}

it('reads what is added, each line once it is whole', async () => {
  expect(await newLines()).toEqual([]);
  appendFileSync(log, 'one\ntw');
  expect(await newLines()).toEqual(['one']);
  appendFileSync(log, 'o\nthree\n');
  expect(await newLines()).toEqual(['two', 'three']);
});

it('goes on after a rotation, with what was written before it and after', async () => {
  appendFileSync(log, 'one\n');
  renameSync(log, `${log}.1`);
  expect(await newLines()).toEqual(['one']);
  // nginx writes to the old file until it is told.
  appendFileSync(`${log}.1`, 'two\n');
  writeFileSync(log, 'three\n');
  expect(await newLines()).toEqual(['two', 'three']);
});

it('does not wait for a pipe in the log’s place', async () => {
  renameSync(log, `${log}.1`);
  execFileSync('mkfifo', [log]);
  expect(await newLines()).toEqual([]);
  rmSync(log);
  writeFileSync(log, 'one\n');
  expect(await newLines()).toEqual(['one']);
});

it('goes on after the log was truncated', async () => {
  appendFileSync(log, 'one, which is longer\n');
  expect(await newLines()).toEqual(['one, which is longer']);
  truncateSync(log);
  appendFileSync(log, 'two\n');
  expect(await newLines()).toEqual(['two']);
});

it('keeps no more than the beginning of a line of any length', async () => {
  const lengths = async () => (await newLines()).map((line) => line.length);
  appendFileSync(log, 'x'.repeat(1_000_000));
  expect(await lengths()).toEqual([]);
  appendFileSync(log, `${'x'.repeat(1_000_000)}\n${'\0'.repeat(5000)}\nshort\n`);
  const [long, zeros, short] = await lengths();
  expect(long).toBeLessThan(300_000);
  expect([zeros, short]).toEqual([5000, 5]);
});
