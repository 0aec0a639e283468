import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFailure } from '@hopwise/lab/browser/start-failure';
import { UserError } from '@hopwise/lab/command/errors';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-start-failure-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o700);
  return path;
}

/** The line about a program that Playwright really tries to start. */
async function lineOf(executablePath: string): Promise<string> {
  const thrown = await chromium.launch({ executablePath, timeout: 5_000 }).then(
    () => null,
    (error) => error,
  );
  const failure = startFailure(thrown, executablePath);
  expect(failure).toBeInstanceOf(UserError);
  return failure.message;
}

const line = (program: string, cause: string) =>
  `Chromium did not start: ${program} ${cause}: reinstall it, or set HOPWISE_CHROMIUM to the path of one that runs`;

describe('a Chromium that does not start', () => {
  it('is named with its exit code and what it complained of', async () => {
    const library = 'error while loading shared libraries: libnss3.so: cannot open shared object file';
    const broken = script('broken', `echo "${library}" >&2; echo done >&2; exit 127`);
    expect(await lineOf(broken)).toBe(line(broken, `ended with exit code 127, saying "${library}"`));
  });

  it('is quoted without the prefix of its log', async () => {
    const log = '[7:7:0105/100000.1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox!';
    const caged = script('caged', `echo "${log}" >&2; exit 133`);
    expect(await lineOf(caged)).toBe(line(caged, 'ended with exit code 133, saying "No usable sandbox!"'));
  });

  it('may say nothing', async () => {
    const silent = script('silent', 'exit 1');
    expect(await lineOf(silent)).toBe(line(silent, 'ended with exit code 1'));
    const crashing = script('crashing', 'kill -SEGV $$');
    expect(await lineOf(crashing)).toBe(line(crashing, 'was ended by SIGSEGV'));
  });

  it('may be no program', async () => {
    const text = join(folder, 'text');
    writeFileSync(text, '');
    expect(await lineOf(text)).toBe(line(text, 'cannot be run (EACCES)'));
  });

  it('is named where a script of the lab runs it', () => {
    const before = process.env.HOPWISE_CHROMIUM;
    process.env.HOPWISE_CHROMIUM = script('my-chromium', 'exit 1');
    try {
      const { message } = startFailure(
        new Error('Timeout 30000ms exceeded.\nlog'),
        join(folder, 'my-chromium-1'),
      );
      expect(message).toBe(line(process.env.HOPWISE_CHROMIUM, 'gave no answer within 30 s'));
    } finally {
      if (before === undefined) delete process.env.HOPWISE_CHROMIUM;
      else process.env.HOPWISE_CHROMIUM = before;
    }
  });
});
