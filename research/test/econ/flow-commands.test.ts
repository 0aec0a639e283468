import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addFlowCommands } from '../../src/econ/flow-commands.ts';

let dir = '';
const file = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-flow-'));
  // Climbs end in windows of 50 and 1,000, or of 10 and 20.
  writeFileSync(file('rare.csv'), 'cwnd,p\n50,0.001\n1000,0.001\n');
  writeFileSync(file('often.csv.gz'), gzipSync('cwnd,p\n10,0.05\n20,0.04\n'));
  const ladder = {
    segmentSeconds: 4,
    representations: [
      { name: 'low', kbps: 300 },
      { name: 'high', kbps: 3000 },
    ],
  };
  writeFileSync(file('ladder.json'), JSON.stringify(ladder));
  writeFileSync(file('ladder.csv'), 'name,kbps,seconds\nlow,300,4\nhigh,3000,4\n');
  writeFileSync(file('broken-ladder.json'), JSON.stringify(ladder).replace('3000', '"fast"'));
});

afterAll(() => rmSync(dir, { recursive: true }));

/** What `npm run research --` prints for these words. */
async function research(...words: string[]): Promise<string> {
  let printed = '';
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addFlowCommands(program, (text) => {
    printed += text;
  });
  await program.parseAsync(words, { from: 'user' });
  return printed;
}

describe('flow', () => {
  it('says how long a flow takes and how fast a long one is', async () => {
    // 30 segments without a loss: a window of 10, then of 20, in a round trip each.
    const bytes = String(30 * 1448);
    const args = ['flow', '--bytes', bytes, '--loss', '0', '--rtt', '100', '--json'];
    expect(JSON.parse(await research(...args))).toEqual({
      bytes: 30 * 1448,
      segments: 30,
      initialWindow: 10,
      conditions: {
        congestionControl: 'cubic',
        rttMs: 100,
        downMbps: null,
        queueMs: null,
        connections: 1,
        loss: 0,
        pcwnd: [],
      },
      completionMs: 200,
      mbps: expect.closeTo((30 * 1448 * 8) / 200 / 1000, 9),
      longFlow: null,
    });
  });

  it('shares a bottleneck, and takes p(cwnd) by the number of connections', async () => {
    const flow = async (...args: string[]) =>
      JSON.parse(await research('flow', '--bytes', '5000000', '--json', ...args));
    const pcwnd = ['--pcwnd', `1=${file('rare.csv')}`, '--pcwnd', `6=${file('often.csv.gz')}`];
    const alone = await flow(...pcwnd, '--down', '20');
    const crowded = await flow(...pcwnd, '--down', '20', '--connections', '6');
    expect(alone.longFlow.mbps).toBeLessThan(20);
    expect(crowded.longFlow.mbps).toBeLessThan(20 / 6);
    expect(crowded.completionMs).toBeGreaterThan(5 * alone.completionMs);
    expect(await research('flow', '--bytes', '5000000', ...pcwnd)).toMatch(/^a long flow +\d+ Mbit\/s$/m);
  });
});

describe('video', () => {
  it.each(['ladder.json', 'ladder.csv'])('finds the highest bitrate in time of %s', async (ladder) => {
    const args = ['video', '--ladder', file(ladder), '--rtt', '100', '--loss', '0.01'];
    const { best, representations, window } = JSON.parse(await research(...args, '--json'));
    // Mathis' 1.22 / sqrt(0.01) segments a round trip are 1.4 Mbit/s; a little more by Cubic.
    expect(window).toBeGreaterThan(9);
    expect(window).toBeLessThan(14);
    expect(best).toMatchObject({ name: 'low', kbps: 300, bytes: 150_000, isInTime: true });
    expect(representations.map(({ isInTime }: { isInTime: boolean }) => isInTime)).toEqual([false, true]);
    expect(await research(...args)).toMatch(/^Best: low, 300 kbit\/s\.$/m);
  });
});

describe('unusable input', () => {
  it.each([
    ['a file of p(cwnd)', ['flow', '--bytes', '9', '--pcwnd', 'ladder.json'], /ladder\.json: .*expected/],
    [
      'a flow without its loss',
      ['flow', '--bytes', '9'],
      /expected --pcwnd <file> or --loss <fraction>, and not both/,
    ],
    [
      'a loss too rare to sum',
      ['flow', '--bytes', '9', '--loss', '1e-12'],
      /--loss 1e-12: expected 0, at least 1e-7, or a rate/,
    ],
    ['a size', ['flow', '--bytes', '1.5', '--loss', '0'], /--bytes.*expected bytes from 1/],
    ['a ladder', ['video', '--ladder', 'rare.csv', '--loss', '0'], /rare\.csv: line 1: expected a ladder/],
    [
      'a place in a ladder',
      ['video', '--ladder', 'broken-ladder.json', '--loss', '0'],
      /broken-ladder\.json: representations\[1\]\.kbps: expected kbit\/s above 0 and up to 10000000, got "fast"/,
    ],
  ])('is refused: %s', async (_, words, line) => {
    const answer = research(...words.map((word) => (/\.(csv|json)/.test(word) ? file(word) : word)));
    // The exit code of commander's own refusals is made 2 by the command.
    await expect(answer).rejects.toThrow(line);
  });

  it('is one line and exit code 2', async () => {
    await expect(research('flow', '--bytes', '9')).rejects.toMatchObject({ name: 'UserError', exitCode: 2 });
  });
});
