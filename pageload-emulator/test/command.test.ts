import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parseCluster } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumHar } from './hars.ts';

const COMMAND = fileURLToPath(new URL('../bin/dist/hopwise.js', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
const HAR = JSON.stringify(chromiumHar());

let dir = '';
const file = (name: string) => join(dir, name);
const usageNote = () =>
  `${file('page.har')}: used 5 of 7 requests: 1 had no http or https URL, 1 began after the load event\n`;

beforeAll(() => {
  // The command is what is built: build it, which takes no time when it is up to date.
  const built = spawnSync(process.execPath, [TSC, '-b', fileURLToPath(new URL('../bin', import.meta.url))], {
    encoding: 'utf8',
  });
  expect(built.stdout + built.stderr).toBe('');
  dir = mkdtempSync(join(tmpdir(), 'hopwise-command-'));
  writeFileSync(file('page.har'), HAR);
  writeFileSync(file('page.har.gz'), gzipSync(HAR));
  writeFileSync(file('broken.har'), HAR.replace('"wait":80', '"wait":"x"'));
  writeFileSync(file('cut.har.gz'), gzipSync(HAR).subarray(0, 100));
}, 120_000);

afterAll(() => rmSync(dir, { recursive: true }));

function hopwise(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
}

describe('what earlier loads told', () => {
  const timeless = (text: string) => JSON.parse(text, (key, value) => (key === 'elapsedMs' ? 0 : value));

  it('is read with --cluster, and written with --learn alone', () => {
    const cluster = ['--cluster', file('network.json')];
    const first = hopwise(['predict', file('page.har'), '--json', ...cluster, '--learn']);
    expect(first).toMatchObject({ status: 0, stderr: usageNote() });
    const alone = timeless(hopwise(['predict', file('page.har'), '--json']).stdout);
    expect(timeless(first.stdout)).toEqual(alone);
    const learnt = readFileSync(file('network.json'), 'utf8');
    expect(parseCluster(JSON.parse(learnt))?.loads).toBe(1);

    const second = hopwise(['predict', file('page.har'), '--json', ...cluster]);
    const { ranges } = timeless(second.stdout).network;
    const width = ({ low, high }: { low: number; high: number }) => high / low;
    expect(width(ranges.downMbps)).toBeLessThan(width(alone.network.ranges.downMbps));
    expect(readFileSync(file('network.json'), 'utf8')).toBe(learnt);
    const shown = hopwise(['predict', file('page.har'), ...cluster]).stdout;
    expect(shown).toContain('known from this load and an earlier one');
    expect(hopwise(['explain', file('page.har'), ...cluster]).status).toBe(0);
  });

  it('is what compare --learn takes from each file to the next', () => {
    const files = [file('page.har'), file('page.har.gz')];
    const together = timeless(hopwise(['compare', ...files, '--learn', '--json']).stdout);
    const cluster = ['--cluster', file('each.json'), '--learn', '--json'];
    const each = files.map((name) => timeless(hopwise(['predict', name, ...cluster]).stdout));
    expect(together.map(({ prediction }: { prediction: unknown }) => prediction)).toEqual(each);
    expect(each[1].network).not.toEqual(each[0].network);
    const apart = timeless(hopwise(['compare', ...files, '--json']).stdout);
    expect(apart[1].prediction).toEqual(each[0]);
  });

  it.each([
    ['is not there', 'none.json', 'got ENOENT (--learn makes one)'],
    ['holds something else', 'page.har', 'top level: expected a network cluster'],
  ])('is refused where the file %s', (_, name, why) => {
    const { status, stdout, stderr } = hopwise(['predict', file('page.har'), '--cluster', file(name)]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(why);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('has a file to go to', () => {
    const { status, stderr } = hopwise(['predict', file('page.har'), '--learn']);
    expect({ status, stderr }).toEqual({ status: 2, stderr: 'error: --learn needs a --cluster <file>\n' });
    const cluster = ['--cluster', file('no/such/folder.json'), '--learn'];
    expect(hopwise(['predict', file('page.har'), ...cluster])).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('hopwise predict', () => {
  it('prints only the prediction as JSON', () => {
    const args = ['predict', file('page.har'), '--json', '--rtt', '80', '--udp', 'blocked'];
    const { status, stdout, stderr } = hopwise(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: usageNote() });
    const prediction = JSON.parse(stdout);
    expect(prediction.network).toMatchObject({
      rttMs: 80,
      udp: 'blocked',
      source: { rttMs: 'given', udp: 'given' },
    });
    expect(prediction.protocols.h3).toHaveProperty('unavailable');
  });

  it('reads gzip and standard input alike', () => {
    const timeless = (text: string) => ({ ...JSON.parse(text), elapsedMs: 0 });
    const plain = timeless(hopwise(['predict', file('page.har'), '--json']).stdout);
    expect(timeless(hopwise(['predict', file('page.har.gz'), '--json']).stdout)).toEqual(plain);
    expect(timeless(hopwise(['predict', '-', '--json'], HAR).stdout)).toEqual(plain);
  });

  it('takes the queue as the time that it takes to drain', () => {
    // 50 ms at 8 Mbit/s are 50,000 bytes.
    const { stdout } = hopwise(['predict', file('page.har'), '--json', '--down', '8', '--queue', '50']);
    expect(JSON.parse(stdout).network.queueBytes).toBe(50_000);
  });

  it('prints a table for a person', () => {
    const { status, stdout } = hopwise(['predict', file('page.har')]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^https:\/\/shop\.test\/\n5 requests, 2 origins, 52 kB; recorded: 500 ms \(h2 6\)/,
    );
    expect(stdout).toMatch(/round trip +30 ms +\d+ +\d+ +estimated/);
  });
});

describe('hopwise explain', () => {
  it('prints only the explanation as JSON', () => {
    const { status, stdout, stderr } = hopwise(['explain', file('page.har'), '--json', '--udp', 'blocked']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: usageNote() });
    const { protocols } = JSON.parse(stdout);
    expect(protocols.h3).toHaveProperty('unavailable');
    const causes = Object.values<number>(protocols.h2.causes).reduce((a, b) => a + b, 0);
    expect(causes).toBeCloseTo(protocols.h2.explainedPltMs, 6);
  });

  it('tells a person what each load waits for', () => {
    const { status, stdout } = hopwise(['explain', file('page.har')]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP\/2: \d+ ms, four of five loads between \d+ ms and \d+ ms$/m);
    expect(stdout).toMatch(/^The load event comes after \d+ ms: /m);
    expect(stdout).toMatch(/^ *0 ms +\d+ ms +https:\/\/shop\.test\/ +.*connecting \d+/m);
    expect(stdout).toMatch(/^https:\/\/cdn\.test +\d+ ms +\d+ ms +\d+/m);
  });
});

describe('what-ifs', () => {
  it('state the change against the present servers', () => {
    const args = ['predict', file('page.har'), '--json', '--what-if', 'iw=1', '--what-if', 'cc=reno'];
    const { whatIf } = JSON.parse(hopwise(args).stdout);
    expect(whatIf.change).toBe('an initial window of 1 packet and Reno');
    // A packet at a time is slower to begin with.
    expect(whatIf.protocols.h2.change).toBeGreaterThan(0.05);
    expect(hopwise(['explain', file('page.har'), '--what-if', 'iw=40']).stdout).toMatch(
      /^with an initial window of 40 packets +load time +low +high +change$/m,
    );
  });
});

describe('hopwise compare and graph', () => {
  it('compare many files in a table', () => {
    const { status, stdout } = hopwise(['compare', file('page.har'), file('page.har.gz')]);
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(3);
  });

  it('show the graph', () => {
    expect(hopwise(['graph', file('page.har')]).stdout).toMatch(
      /1 +style +10300 +yes +5 +0:parser@0\.00 +https:\/\/shop\.test\/a\.css/,
    );
    expect(JSON.parse(hopwise(['graph', file('page.har'), '--json']).stdout).activities).toHaveLength(7);
  });
});

describe('unusable input', () => {
  it.each([
    [
      'a place in a HAR',
      ['predict', 'broken.har'],
      /broken\.har: log\.entries\[0\]\.timings\.wait: expected a number, got "x"/,
    ],
    ['a file that is not there', ['predict', 'none.har'], /none\.har: expected a readable file, got ENOENT/],
    ['a cut gzip', ['graph', 'cut.har.gz'], /cut\.har\.gz: top level: expected gzip data, got /],
    ['a flag', ['predict', 'page.har', '--loss', '2'], /--loss.*expected a fraction from 0 to 0\.5, got "2"/],
    ['a treatment of UDP', ['predict', 'page.har', '--udp', 'closed'], /expected open, blocked, or Mbit\/s/],
    [
      'a what-if',
      ['explain', 'page.har', '--what-if', 'iw=fast'],
      /--what-if.*expected iw=PACKETS \(1 to 1000\), cc=cubic\|reno\|bbr\|hybla, start=.*, got "iw=fast"/,
    ],
    ['a command', ['forecast', 'page.har'], /unknown command/],
  ])('names %s on one line and exits with 2', (_, args, line) => {
    const { status, stdout, stderr } = hopwise(args.map((arg) => (arg.includes('.har') ? file(arg) : arg)));
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
