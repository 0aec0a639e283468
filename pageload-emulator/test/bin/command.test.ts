import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseCluster, parseRecording } from '@hopwise/pageload-emulator';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shortNames } from '../../bin/file-names.ts';
import { chromiumEntry, chromiumHar, START } from '../support/hars.ts';
import { buildHopwise, hopwise, spawnHopwise } from '../support/hopwise.ts';
import { logEvents, logged, packet } from '../support/netlogs.ts';
import { VERIFICATION } from '../support/verification.ts';

const HAR = JSON.stringify(chromiumHar());
let dir = '';
const file = (name: string) => join(dir, name);
const usageNote = () =>
  `${file('page.har')}: used 5 of 7 requests: 1 had no http or https URL, 1 began after the load event\n`;

beforeAll(() => {
  buildHopwise();
  dir = mkdtempSync(join(tmpdir(), 'hopwise-command-'));
  writeFileSync(file('page.har'), HAR);
  writeFileSync(file('page.har.gz'), gzipSync(HAR));
  writeFileSync(file('broken.har'), HAR.replace('"wait":80', '"wait":"x"'));
  writeFileSync(file('cut.har.gz'), gzipSync(HAR).subarray(0, 100));
  // Climbs end in windows of 50 and 1,000, or of 10 and 20.
  writeFileSync(file('rare.csv'), 'cwnd,p\n50,0.001\n1000,0.001\n');
  writeFileSync(file('often.csv.gz'), gzipSync('cwnd,p\n10,0.05\n20,0.04\n'));
  writeFileSync(file('probe.json'), JSON.stringify(VERIFICATION));
  writeFileSync(file('other.json'), JSON.stringify({ ...VERIFICATION, pageUrl: 'https://other.test/' }));
  const broken = { ...VERIFICATION, udp: { ...VERIFICATION.udp, verdict: 'maybe' } };
  writeFileSync(file('broken-probe.json'), JSON.stringify(broken));
  const exported = { format: 'hopwise-load', version: 1, verification: VERIFICATION };
  writeFileSync(file('export.json'), JSON.stringify(exported));
  const recording = parseRecording(HAR);
  writeFileSync(file('recording.json'), JSON.stringify(recording));
  writeFileSync(file('load.json'), JSON.stringify({ ...exported, recording }));
  const late = {
    ...exported,
    recording: { ...recording, requests: [{ ...recording.requests[0], endMs: 'late' }] },
  };
  writeFileSync(file('broken-load.json'), JSON.stringify(late));
  writeFileSync(file('unverified-load.json'), JSON.stringify({ ...exported, recording, verification: null }));
  writeFileSync(file('unverified.json'), JSON.stringify({ ...exported, verification: null }));
}, 120_000);

afterAll(() => rmSync(dir, { recursive: true }));

it('calls no protocol the best that is slower than another one, in the README’s first example', async () => {
  const page = join(import.meta.dirname, '../../../e2e/examples/playwright/pages/app.json.gz');
  const words = [page, '--network', 'lte', '--loss', '1%', '--udp', '3mbit'];
  const { stdout } = await hopwise(['predict', ...words]);
  const rows = [...stdout.matchAll(/^(h[123]) +(\d+) ms(?: +\d+ ms)+(?: {2}(\D.*))?$/gm)];
  const [fastest, ...slower] = rows.toSorted((a, b) => Number(a[2]) - Number(b[2]));
  expect(slower).toHaveLength(2);
  expect(fastest![3]).toMatch(/^(fastest|best, \d+% sure|about equal)$/);
  if (fastest![3] !== 'about equal') {
    expect(slower.map((row) => row[3])).toEqual([undefined, undefined]);
    const { stdout: compared } = await hopwise(['compare', ...words]);
    expect(compared).toMatch(new RegExp(` fastest  verdict\n.*ms  ${fastest![1]}  `));
  }
});

describe('a page whose URLs have a password', () => {
  const withPassword = (text: string): string => text.replaceAll('https://', 'https://user:s3cret@');

  beforeAll(() => {
    writeFileSync(file('password.har'), withPassword(HAR));
    const verification = { ...VERIFICATION, pageUrl: withPassword(VERIFICATION.pageUrl) };
    writeFileSync(file('password-probe.json'), JSON.stringify(verification));
    writeFileSync(
      file('password-broken.har'),
      withPassword(HAR).replaceAll('https://user', 'ftp//https://user'),
    );
  });

  it.each([
    ['predict', 'password.har'],
    ['predict', 'password.har', '--json'],
    ['predict', 'password.har', '--verification', 'password-probe.json'],
    ['explain', 'password.har'],
    ['compare', 'password.har', '--json'],
    ['graph', 'password.har'],
    ['graph', 'password.har', '--json'],
    ['advise', 'password.har', '--servers', '--json'],
    ['predict', 'password-broken.har'],
  ])('is shown without it by %s %s %s', async (...args) => {
    const { stdout, stderr } = await hopwise(
      args.map((arg) => (/\.(har|json)$/.test(arg) ? file(arg) : arg)),
    );
    expect(stdout + stderr).not.toBe('');
    expect(stdout + stderr).not.toContain('s3cret');
  });

  it('is the same page as without it', () => {
    expect(parseRecording(withPassword(HAR))).toEqual(parseRecording(HAR));
  });
});

describe('a page whose URLs steer terminals and CI systems', () => {
  const STEERING = '\u001b]0;a\u0007\u009b31m\u202e##[error]';

  beforeAll(() => {
    const har = JSON.parse(HAR.replaceAll('https://shop.test/', 'https://shop.test/STEERING'));
    const text = JSON.stringify(har).replaceAll('STEERING', JSON.stringify(STEERING).slice(1, -1));
    writeFileSync(file('::error::steering.har'), text);
    writeFileSync(file('steering-broken.har'), text.replace('"wait":80', `"wait":"\u009b##[error]"`));
    writeFileSync(file('tight.json'), '{"loadTimeMs": 1}');
  });

  it.each([
    ['predict', '::error::steering.har'],
    ['predict', '::error::steering.har', '--json'],
    ['explain', '::error::steering.har'],
    ['compare', '::error::steering.har', 'page.har'],
    ['graph', '::error::steering.har', '--json'],
    ['advise', '::error::steering.har'],
    ['check', '::error::steering.har', 'page.har', '--network', 'lte', '--budget', 'tight.json'],
    ['predict', 'steering-broken.har'],
  ])('is shown without what does by %s %s %s', async (...args) => {
    const { stdout, stderr } = await hopwise(
      args.map((arg) => (/\.(har|json)$/.test(arg) ? file(arg) : arg)),
    );
    const shown = stdout + stderr;
    expect(shown).not.toBe('');
    expect(shown).not.toMatch(/(?!\n)\p{Cc}|\p{Cf}|^\s*::|##\[/mu);
  });
});

describe('a file of several page loads', () => {
  const urlOf = async (...args: string[]) => {
    const { stdout, stderr } = await hopwise(['predict', file('pages.har.zip'), '--json', ...args]);
    return { url: JSON.parse(stdout).page.url as string, stderr };
  };

  beforeAll(() => {
    const har = chromiumHar() as { log: { pages: object[]; entries: object[] } };
    har.log.pages.push({ id: 'page_2', startedDateTime: START, pageTimings: { onLoad: 80 } });
    har.log.entries.push(chromiumEntry('https://b.test/', 0, {}, { pageref: 'page_2' }));
    writeFileSync(file('pages.har.zip'), zipSync({ 'har.har': strToU8(JSON.stringify(har)) }));
  });

  it('is taken from by --page, and a line says which load it was', async () => {
    const first = await urlOf();
    expect(first.url).toBe('https://shop.test/');
    expect(first.stderr).toContain(
      '2 pages in the file: took the first (https://shop.test/, 7 requests); --page 2|URL takes another\n',
    );
    for (const page of ['2', 'https://b.test/']) {
      const second = await urlOf('--page', page);
      expect(second.url).toBe('https://b.test/');
      expect(second.stderr).toContain('2 pages in the file: took number 2 (https://b.test/, 1 request)\n');
    }
    for (const command of ['explain', 'graph']) {
      const { stderr } = await hopwise([command, file('pages.har.zip'), '--page', '2']);
      expect(stderr).toContain('took number 2');
    }
    // It has no such option.
    const { stderr } = await hopwise(['compare', file('pages.har.zip')]);
    expect(stderr).toContain('took the first (https://shop.test/, 7 requests)\n');
  });

  it('has no others', async () => {
    const { status, stderr } = await hopwise(['predict', file('pages.har.zip'), '--page', '3']);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `hopwise: ${file('pages.har.zip')}: page: expected one of the file's (1 https://shop.test/, 2 https://b.test/), got 3\n`,
    );
  });
});

describe('a NetLog', () => {
  const lossOf = async (...flags: string[]) => {
    const { stdout, stderr } = await hopwise(['predict', file('page.har'), '--json', ...flags]);
    return { loss: JSON.parse(stdout).network.ranges.loss.high as number, stderr };
  };
  const logOf = (url: string, packets: number): string => {
    const numbers = Array.from({ length: packets }, (_, number) => packet(number, 240));
    return JSON.stringify(logged([...logEvents(), ...numbers])).replaceAll('https://a.test', url);
  };

  it('is a recording by itself', async () => {
    writeFileSync(file('netlog.json'), logOf('https://a.test', 0));
    const { status, stdout, stderr } = await hopwise(['predict', file('netlog.json')]);
    expect(status).toBe(0);
    expect(stdout).toContain('3 requests, 2 origins');
    expect(stderr).toContain('no load event in the file');
  });

  it('beside a HAR tells of lost packets', async () => {
    writeFileSync(file('packets.json'), logOf('https://shop.test', 3_000));
    const alone = await lossOf();
    const { loss } = await lossOf('--netlog', file('packets.json'));
    expect(loss).toBeLessThan(0.5 * alone.loss);
  });

  it('without packets of the load says so', async () => {
    writeFileSync(file('no-packets.json'), logOf('https://shop.test', 0));
    const { stderr } = await lossOf('--netlog', file('no-packets.json'));
    expect(stderr).toContain(`${file('no-packets.json')}: no packet over HTTP/3 in it for this load\n`);
  });

  it('of another page is refused', async () => {
    const flags = ['predict', file('page.har'), '--netlog', file('netlog.json')];
    const { status, stderr } = await hopwise(flags);
    expect(status).toBe(2);
    expect(stderr).toContain(
      `hopwise: ${file('netlog.json')}: page: expected one of the file's (1 https://a.test/), got "https://shop.test/"\n`,
    );
  });
});

describe('what earlier loads showed', () => {
  it('leaves no file behind where it cannot be written', async () => {
    mkdirSync(file('clusters/network.json/taken'), { recursive: true });
    const words = ['predict', file('page.har'), '--learn', '--cluster', file('clusters/network.json')];
    expect((await hopwise(words)).status).toBe(2);
    expect(readdirSync(file('clusters'))).toEqual(['network.json']);
  });

  const timeless = (text: string) => JSON.parse(text, (key, value) => (key === 'elapsedMs' ? 0 : value));

  it('is read with --cluster, and written with --learn alone', async () => {
    const cluster = ['--cluster', file('network.json')];
    const first = await hopwise(['predict', file('page.har'), '--json', ...cluster, '--learn']);
    expect(first).toMatchObject({ status: 0, stderr: usageNote() });
    const alone = timeless((await hopwise(['predict', file('page.har'), '--json'])).stdout);
    expect(timeless(first.stdout)).toEqual(alone);
    const learned = readFileSync(file('network.json'), 'utf8');
    expect(parseCluster(JSON.parse(learned))?.loads).toBe(1);

    const second = await hopwise(['predict', file('page.har'), '--json', ...cluster]);
    const { ranges } = timeless(second.stdout).network;
    const width = ({ low, high }: { low: number; high: number }) => high / low;
    expect(width(ranges.downMbps)).toBeLessThan(width(alone.network.ranges.downMbps));
    expect(readFileSync(file('network.json'), 'utf8')).toBe(learned);
    const shown = (await hopwise(['predict', file('page.har'), ...cluster])).stdout;
    expect(shown).toContain('known from this load and an earlier one');
    expect((await hopwise(['explain', file('page.har'), ...cluster])).status).toBe(0);
  });

  it('is what compare --learn takes from each file to the next', async () => {
    const files = [file('page.har'), file('page.har.gz')];
    const together = timeless((await hopwise(['compare', ...files, '--learn', '--json'])).stdout);
    const cluster = ['--cluster', file('each.json'), '--learn', '--json'];
    const each: ReturnType<typeof timeless>[] = [];
    for (const name of files) each.push(timeless((await hopwise(['predict', name, ...cluster])).stdout));
    expect(together.map(({ prediction }: { prediction: unknown }) => prediction)).toEqual(each);
    expect(each[1].network).not.toEqual(each[0].network);
    const apart = timeless((await hopwise(['compare', ...files, '--json'])).stdout);
    expect(apart[1].prediction).toEqual(each[0]);
  });

  it.each([
    ['is not there', 'none.json', 'but there is none (--learn makes one)'],
    ['holds something else', 'page.har', 'top level: expected a network cluster'],
  ])('is refused where the file %s', async (_, name, why) => {
    const { status, stdout, stderr } = await hopwise(['predict', file('page.har'), '--cluster', file(name)]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(why);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('has a file to go to', async () => {
    const { status, stderr } = await hopwise(['predict', file('page.har'), '--learn']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'hopwise: --learn needs a --cluster <file> (see hopwise predict --help)\n',
    });
    const cluster = ['--cluster', file('no/such/folder.json'), '--learn'];
    expect(await hopwise(['predict', file('page.har'), ...cluster])).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('hopwise predict', () => {
  it('prints only the prediction as JSON', async () => {
    const args = ['predict', file('page.har'), '--json', '--rtt', '80', '--udp', 'blocked'];
    const { status, stdout, stderr } = spawnHopwise(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: usageNote() });
    const prediction = JSON.parse(stdout);
    expect(prediction.network).toMatchObject({
      rttMs: 80,
      udp: 'blocked',
      source: { rttMs: 'given', udp: 'given' },
    });
    expect(prediction.protocols.h3).toHaveProperty('unavailable');
  });

  it('reads gzip and standard input alike', async () => {
    const timeless = (text: string) => ({ ...JSON.parse(text), elapsedMs: 0 });
    const plain = timeless((await hopwise(['predict', file('page.har'), '--json'])).stdout);
    expect(timeless((await hopwise(['predict', file('page.har.gz'), '--json'])).stdout)).toEqual(plain);
    expect(timeless(spawnHopwise(['predict', '-', '--json'], HAR).stdout)).toEqual(plain);
  });

  it('takes the queue as the time that it takes to drain', async () => {
    // 50 ms at 8 Mbit/s are 50,000 bytes.
    const { stdout } = await hopwise(['predict', file('page.har'), '--json', '--down', '8', '--queue', '50']);
    expect(JSON.parse(stdout).network.queueBytes).toBe(50_000);
  });

  it('takes --udp unknown as no statement', async () => {
    const answer = async (...flags: string[]) => {
      const { elapsedMs: _, ...rest } = JSON.parse(
        (await hopwise(['predict', file('page.har'), '--json', ...flags])).stdout,
      );
      return rest;
    };
    expect(await answer('--udp', 'unknown')).toEqual(await answer());
  });

  it('prints a table for a person', async () => {
    const { status, stdout } = await hopwise(['predict', file('page.har')]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^All good\. No change would load this page noticeably faster\.\n[\s\S]*\nhttps:\/\/shop\.test\/\n5 requests, 2 origins, 52 kB; recorded: 500 ms over h2/,
    );
    expect(stdout).toMatch(/round trip +30 ms +\d+ +\d+ +estimated/);
    expect(stdout).toMatch(/^ {2}later visits +\d+ ms$/m);
    expect(stdout).toMatch(/^later visits: when the browser remembers which servers offer HTTP\/3$/m);
    const given = await hopwise(['predict', file('page.har'), '--loss', '0.00005']);
    expect(given.stdout).toMatch(/^loss +none +given$/m);
  });
});

describe('hopwise explain', () => {
  it('prints only the explanation as JSON', async () => {
    const { status, stdout, stderr } = await hopwise([
      'explain',
      file('page.har'),
      '--json',
      '--udp',
      'blocked',
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: usageNote() });
    const { protocols } = JSON.parse(stdout);
    expect(protocols.h3).toHaveProperty('unavailable');
    const causes = Object.values<number>(protocols.h2.causes).reduce((a, b) => a + b, 0);
    // Each figure is rounded.
    expect(causes).toBeCloseTo(protocols.h2.explainedPltMs, -1);
  });

  it('shows what each load waits for', async () => {
    const { status, stdout } = await hopwise(['explain', file('page.har')]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP\/2: \d+ ms, four of five loads between \d+ ms and \d+ ms$/m);
    expect(stdout).toMatch(/^One emulated load takes \d+ ms: /m);
    const { decision } = JSON.parse((await hopwise(['predict', file('page.har'), '--json'])).stdout);
    expect(decision.evidence).not.toEqual([]);
    for (const { text } of decision.evidence) expect(stdout).toContain(text);
    expect(stdout).toMatch(/^ *0 ms +\d+ ms +https:\/\/shop\.test\/ +.*connecting \d+/m);
    expect(stdout).toMatch(/^https:\/\/cdn\.test +\d+ ms +\d+ ms +\d+/m);
  });
});

describe('what-ifs', () => {
  it('state the change against the present servers', async () => {
    const args = ['predict', file('page.har'), '--json', '--what-if', 'iw=1', '--what-if', 'cc=reno'];
    const { whatIf } = JSON.parse((await hopwise(args)).stdout);
    expect(whatIf.change).toBe('an initial window of 1 packet and Reno');
    // A packet at a time is slower to begin with.
    expect(whatIf.protocols.h2.change).toBeGreaterThan(0.05);
    expect((await hopwise(['explain', file('page.har'), '--what-if', 'iw=40'])).stdout).toMatch(
      /^with an initial window of 40 packets +load time +low +high +change$/m,
    );
  });
});

it.runIf(process.platform === 'linux')('says that its output cannot be written', () => {
  const { status, stderr } = spawnHopwise(['predict', file('page.har')], '', openSync('/dev/full', 'w'));
  expect(status).toBe(1);
  expect(stderr).toContain('standard output: expected a file that can be written, but its disk is full\n');
});

describe('hopwise compare and graph', () => {
  it('compare many files in a table', async () => {
    const { status, stdout } = await hopwise(['compare', file('page.har'), file('page.har.gz')]);
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(3);
  });

  it('compare leaves out a file that cannot be used, and says so', async () => {
    writeFileSync(file('cut.har'), HAR.slice(0, HAR.length / 2));
    const { status, stdout, stderr } = await hopwise(['compare', file('cut.har'), file('page.har')]);
    expect(status).toBe(2);
    expect(stdout).toMatch(/^file .*\npage\.har .*\n$/);
    expect(stderr).toContain(`hopwise: ${file('cut.har')}: `);
    const none = await hopwise(['compare', file('cut.har'), file('cut.har'), '--json']);
    expect(none).toMatchObject({ status: 2, stdout: '' });
  });

  it('show the graph', async () => {
    expect((await hopwise(['graph', file('page.har')])).stdout).toMatch(
      /1 +style +10300 +yes +5 +0:parser@0\.00 +https:\/\/shop\.test\/a\.css/,
    );
    expect(JSON.parse((await hopwise(['graph', file('page.har'), '--json'])).stdout).activities).toHaveLength(
      7,
    );
  });
});

describe('--model econ', () => {
  it('predicts h1 and h2 in the shape of a prediction', async () => {
    const { status, stdout, stderr } = await hopwise([
      'predict',
      file('page.har'),
      '--json',
      '--model',
      'econ',
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: usageNote() });
    const { protocols, best, margin, ...rest } = JSON.parse(stdout);
    expect(protocols.h1).toMatchObject({
      pltMs: expect.any(Number),
      low: null,
      firstContentfulPaintMs: null,
    });
    expect(protocols.h3).toEqual({ unavailable: 'ECON has no model of HTTP/3' });
    const [fast, slow] = [protocols.h1.pltMs, protocols.h2.pltMs].sort((a, b) => a - b);
    expect(protocols[best].pltMs).toBe(fast);
    expect(margin).toBeCloseTo(1 - fast / slow, 3);
    expect(rest).toMatchObject({ model: 'econ', confidence: null, decided: null, pcwnd: [] });
    expect(rest).not.toHaveProperty('origins');
    expect(rest.page).toEqual(
      JSON.parse((await hopwise(['predict', file('page.har'), '--json'])).stdout).page,
    );
  });

  it('takes p(cwnd) from files, by the connections with which they were measured', async () => {
    const predicted = async (...args: string[]) =>
      JSON.parse((await hopwise(['predict', file('page.har'), '--json', '--model', 'econ', ...args])).stdout);
    const { protocols: lossless } = await predicted('--pcwnd', file('rare.csv'));
    const { protocols: lossy } = await predicted('--pcwnd', file('often.csv.gz'));
    expect(lossy.h2.pltMs).toBeGreaterThan(lossless.h2.pltMs);
    const { protocols, pcwnd } = await predicted(
      '--pcwnd',
      `1=${file('often.csv.gz')}`,
      '--pcwnd',
      `6=${file('rare.csv')}`,
    );
    // Over h2 two connections are under way at most, one to each host.
    expect(protocols.h2.pltMs).toBeGreaterThan(lossless.h2.pltMs);
    expect(pcwnd).toEqual([file('often.csv.gz'), file('rare.csv')]);
    const shown = (
      await hopwise(['predict', file('page.har'), '--model', 'econ', '--pcwnd', file('rare.csv')])
    ).stdout;
    expect(shown).toMatch(/^loss by window from rare\.csv, in place of the network's loss$/m);
    expect(shown).toMatch(/^h3 +– +ECON has no model of HTTP\/3$/m);
    expect(shown).toContain('no HTTP/3, ranges, confidence, paints or choice by origin');
  });

  it('explains which connections carry which objects', async () => {
    const args = ['explain', file('page.har'), '--model', 'econ', '--loss', '0'];
    const { protocols } = JSON.parse((await hopwise([...args, '--json'])).stdout);
    expect(protocols.h2.connections).toHaveLength(2);
    expect(protocols.h2.transfers).toHaveLength(5);
    for (const protocol of ['h1', 'h2']) {
      const { explainedPltMs, pltMs, connections, transfers } = protocols[protocol];
      // Without a loss all trajectories are one.
      expect(explainedPltMs).toBeCloseTo(pltMs, 1);
      for (const { connection, askedMs, sentMs, endMs } of transfers) {
        expect(askedMs).toBeLessThanOrEqual(sentMs);
        expect(connections[connection].readyMs).toBeLessThanOrEqual(sentMs);
        expect(sentMs).toBeLessThan(endMs);
      }
      const requests = connections.map((connection: { requests: number }) => connection.requests);
      expect(requests.reduce((a: number, b: number) => a + b, 0)).toBe(transfers.length);
    }
    const { status, stdout } = await hopwise(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP\/2: \d+ ms on average; .*: 5 objects over 2 connections$/m);
  });

  it('compares many files', async () => {
    const { stdout } = await hopwise(['compare', file('page.har'), file('page.har.gz'), '--model', 'econ']);
    expect(stdout).toMatch(/^page\.har\.gz +5 +2 +52 +\d+ ms +\d+ ms +h[12] +\d+%$/m);
  });
});

describe('an export of the extension', () => {
  const timeless = async (args: string[]) => ({ ...JSON.parse((await hopwise(args)).stdout), elapsedMs: 0 });

  it('is its recording with its verification', async () => {
    const apart = await timeless([
      'predict',
      file('recording.json'),
      '--verification',
      file('probe.json'),
      '--json',
    ]);
    expect(await timeless(['predict', file('load.json'), '--json'])).toEqual(apart);
    expect(apart.network.source.rttMs).toBe('measured');
  });

  it('of a load that was not verified is its recording', async () => {
    const alone = await timeless(['predict', file('recording.json'), '--json']);
    expect(await timeless(['predict', file('unverified-load.json'), '--json'])).toEqual(alone);
  });

  it('takes --verification in place of its own', async () => {
    const { status, stderr } = await hopwise([
      'predict',
      file('load.json'),
      '--verification',
      file('other.json'),
    ]);
    expect({ status, named: stderr.includes('of https://other.test/') }).toEqual({ status: 0, named: true });
  });
});

describe('--verification', () => {
  it('takes figures of the network that real transfers showed', async () => {
    const figures = async (...args: string[]) =>
      JSON.parse((await hopwise(['predict', file('page.har'), '--json', ...args])).stdout).network;
    for (const name of ['probe.json', 'export.json']) {
      const { rttMs, udp, source } = await figures('--verification', file(name));
      expect({ rttMs, udp, source: source.rttMs, udpSource: source.udp }).toEqual({
        rttMs: 44,
        udp: 'blocked',
        source: 'measured',
        udpSource: 'measured',
      });
    }
    const given = await figures('--verification', file('probe.json'), '--rtt', '80');
    expect(given).toMatchObject({ rttMs: 80, source: { rttMs: 'given', udp: 'measured' } });
    const { protocols } = JSON.parse(
      (await hopwise(['explain', file('page.har'), '--json', '--verification', file('probe.json')])).stdout,
    );
    expect(protocols.h3).toHaveProperty('unavailable');
  });

  it('says when it is of another page', async () => {
    const { status, stderr } = await hopwise([
      'predict',
      file('page.har'),
      '--verification',
      file('other.json'),
    ]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/other\.json: of https:\/\/other\.test\/, not of https:\/\/shop\.test\//);
  });
});

describe('names of files in compare', () => {
  it.each([
    [
      ['/abs/a.har', 'b.har'],
      ['/abs/a.har', 'b.har'],
    ],
    [
      ['/abs/a.har', '-'],
      ['/abs/a.har', '-'],
    ],
    [
      ['a.har', '/abs/b.har'],
      ['a.har', '/abs/b.har'],
    ],
    [
      ['/a.har', '/b/c.har'],
      ['a.har', 'b/c.har'],
    ],
    [
      ['../a.har', './b.har', 'c.har'],
      ['../a.har', './b.har', 'c.har'],
    ],
    [
      ['-', '-'],
      ['-', '-'],
    ],
  ])('%j are %j', (files, names) => {
    expect(shortNames(files)).toEqual(names);
  });

  it('are distinct', async () => {
    const shared = '/home/user/recordings/of/the/second/week/of/november';
    expect(shortNames([`${shared}/a/page.har`, `${shared}/b/page.har`])).toEqual([
      'a/page.har',
      'b/page.har',
    ]);
    expect(shortNames([`${shared}/page.har`])).toEqual(['page.har']);
    expect(shortNames(['page.har', 'page.har.gz'])).toEqual(['page.har', 'page.har.gz']);
    const long = (end: string) => `the-front-page-of-a-shop-with-many-products-on-a-slow-link-${end}.har`;
    expect(shortNames([long('1'), long('2')])).toEqual(
      [
        'the-front-page-…-many-products-on-a-slow-link-1.har',
        'the-front-page-…-many-products-on-a-slow-link-2.har',
      ].map((name) => expect.stringMatching(new RegExp(`^the-front-page-….*${name.slice(-6)}$`))),
    );
    const middle = (part: string) => `${'x'.repeat(30)}${part}${'y'.repeat(40)}.har`;
    expect(shortNames([middle('a'), middle('b')])).toEqual([middle('a'), middle('b')]);
    expect(shortNames([long('1')])[0]).toHaveLength(48);
  });
});

describe('unusable input', () => {
  it.each([
    [
      'a place in a HAR',
      ['predict', 'broken.har'],
      /broken\.har: log\.entries\[0\]\.timings\.wait: expected a number, got "x"/,
    ],
    [
      'a file that is not there',
      ['predict', 'none.har'],
      /^hopwise: .*none\.har: expected a readable file, but there is none$/m,
    ],
    ['a cut gzip', ['graph', 'cut.har.gz'], /cut\.har\.gz: top level: expected gzip data, got /],
    [
      'a flag',
      ['predict', 'page.har', '--loss', '2'],
      /^hopwise: --loss: expected a fraction from 0 to 0\.5, such as 0\.01 or 1%, got "2" \(see hopwise predict --help\)$/m,
    ],
    ['a treatment of UDP', ['predict', 'page.har', '--udp', 'closed'], /expected open, blocked, or Mbit\/s/],
    [
      'a what-if',
      ['explain', 'page.har', '--what-if', 'iw=fast'],
      /--what-if.*expected iw=PACKETS \(1 to 1000\), cc=cubic\|reno\|bbr\|hybla\|quiche-cubic, start=.*, got "iw=fast"/,
    ],
    [
      'a file of p(cwnd)',
      ['predict', 'page.har', '--model', 'econ', '--pcwnd', 'page.har'],
      /page\.har: .*expected/,
    ],
    [
      'flags of ECON without it',
      ['predict', 'page.har', '--pcwnd', 'rare.csv'],
      /--pcwnd needs --model econ/,
    ],
    [
      'what ECON cannot do',
      ['predict', 'page.har', '--model', 'econ', '--what-if', 'iw=9'],
      /--what-if does not go with --model econ/,
    ],
    [
      'a verification',
      ['predict', 'page.har', '--verification', 'page.har'],
      /page\.har: top level: expected a verification: the JSON of/,
    ],
    [
      'a place in a verification',
      ['predict', 'page.har', '--verification', 'broken-probe.json'],
      /broken-probe\.json: udp\.verdict: expected .*, got "maybe"/,
    ],
    [
      'a place in an export of the extension',
      ['predict', 'broken-load.json'],
      /broken-load\.json: recording\.requests\[0\]\.endMs: expected a number, got "late"/,
    ],
    [
      'a verification that was not made',
      ['predict', 'page.har', '--verification', 'unverified.json'],
      /unverified\.json: verification: expected one, got nothing/,
    ],
    ['a command', ['forecast', 'page.har'], /unknown command/],
  ])('names %s on one line and exits with 2', async (_, args, line) => {
    const { status, stdout, stderr } = await hopwise(
      args.map((arg) => (/\.(har|csv|json)/.test(arg) ? file(arg) : arg)),
    );
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
