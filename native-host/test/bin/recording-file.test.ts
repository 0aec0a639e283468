import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it, vi } from 'vitest';
import { note } from '../../bin/output.ts';
import { readRecording } from '../../bin/recording-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'hopwise-recording-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('reads no more of a compressed file than a recording may have', async () => {
  const file = join(folder, 'bomb.har.gz');
  const part = gzipSync(Buffer.alloc(100e6, ' '));
  // Kilobytes to look at, and 600 MB to unpack.
  writeFileSync(file, Buffer.concat(new Array(6).fill(part)));
  const before = process.resourceUsage().maxRSS;
  await expect(readRecording(file)).rejects.toThrow(/bomb\.har\.gz: top level: expected at most/);
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(300);
});

it('writes nothing that steers a terminal or a CI system', () => {
  let written = '';
  const write = (text: string | Uint8Array): boolean => {
    written += text;
    return true;
  };
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(write);
  note('page.har: got "\u009b31m\u202e##[error]"');
  stderr.mockRestore();
  expect(written).toBe('hopwise-host: page.har: got "?31m??#[error]"\n');
});
