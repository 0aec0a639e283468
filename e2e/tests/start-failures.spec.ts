/** What cannot work ends in one line that says what, where and how to mend it, and leaves nothing. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { type Ended, start } from './start-command.ts';

let scratch: string;
test.beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'hopwise-failures-'));
});
test.afterEach(() => rm(scratch, { recursive: true, force: true }));

/** The one line on stderr that begins with `hopwise:` (or commander's own `error:`). */
function complaint(ended: Ended): string {
  expect(ended.code).not.toBe(0);
  const lines = ended.stderr.split('\n').filter((line) => /^(hopwise|error):/.test(line));
  expect(lines, ended.stderr).toHaveLength(1);
  return lines[0] as string;
}

/** Processes of the lab and of profiles that a run made. */
function processes(): string[] {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /hopwise-(lab|profile)|hopwise-host/.test(line));
}

async function scratchFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => /^hopwise-(profile|lab)-/.test(name));
}

test('an unknown network names the known ones', async () => {
  const ended = await start(['--network', 'carrier-pigeon', '--out', scratch]);
  expect(ended.code).toBe(2);
  expect(complaint(ended)).toMatch(/carrier-pigeon.*expected one of .*lossy/);
});

test('a figure out of range names the option', async () => {
  const ended = await start(['--loss', '7', '--out', scratch]);
  expect(ended.code).toBe(2);
  expect(complaint(ended)).toMatch(/--loss.*from 0 to 0\.5/);
});

test('a page that is not there', async () => {
  const ended = await start(['--page', join(scratch, 'none.har'), '--out', scratch]);
  expect(ended.code).toBe(2);
  expect(complaint(ended)).toMatch(/none\.har.*no such file/);
});

test('a broken HAR names the file and the place', async () => {
  const file = join(scratch, 'broken.har');
  await writeFile(file, '{"log": {"version": "1.2", "entries": [{"request": {"url": 7}}]}}');
  const ended = await start(['--page', file, '--out', scratch]);
  expect(ended.code).toBe(2);
  expect(complaint(ended)).toMatch(/broken\.har: .*entries\[0\]/);
});

test('truncated JSON names the file', async () => {
  const file = join(scratch, 'cut.har');
  await writeFile(file, '{"log": {"version": "1.2", "entr');
  const ended = await start(['--page', file, '--out', scratch]);
  expect(ended.code).toBe(2);
  expect(complaint(ended)).toMatch(/cut\.har: .*JSON/);
});

test('no Chromium', async () => {
  const ended = await start(['--out', scratch], { env: { HOPWISE_CHROMIUM: join(scratch, 'chromium') } });
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toContain('HOPWISE_CHROMIUM');
});

test('a URL that nobody answers', async () => {
  const ended = await start(['https://127.0.0.1:9/', '--out', scratch]);
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toMatch(/127\.0\.0\.1:9.*ERR_/);
});

test('a report that cannot be written', async () => {
  const file = join(scratch, 'file');
  await writeFile(file, '');
  const ended = await start([
    '--loads',
    '1',
    '--rounds',
    '1',
    '--network',
    'fast',
    '--out',
    join(file, 'out'),
  ]);
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toContain('--out');
});

test('Ctrl-C at any step cleans up', async () => {
  const moments = [
    { step: 'lab', delayMs: 100 },
    // While Chromium starts.
    { step: 'recording', delayMs: 50 },
    { step: 'recording', delayMs: 1500 },
    { step: 'verifying', delayMs: 700 },
    { step: 'measuring', delayMs: 100 },
    { step: 'measuring', delayMs: 3000 },
  ];
  for (const { step, delayMs } of moments) {
    let sent = false;
    const ended = await start(['--out', scratch], {
      onStderr(text, pid) {
        if (sent || !text.includes(`${step}:`)) return;
        sent = true;
        setTimeout(() => process.kill(pid, 'SIGINT'), delayMs);
      },
    });
    expect(ended.code, `${step}: ${ended.stderr}`).toBe(130);
    expect(complaint(ended)).toContain('SIGINT');
    expect(processes(), step).toEqual([]);
    expect(await scratchFolders(), step).toEqual([]);
  }
});
