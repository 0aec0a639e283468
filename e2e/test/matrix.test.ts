import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Recording } from '@hopwise/pageload-emulator';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LabFacts } from '../src/lab/lab.ts';
import type { Site } from '../src/pages/site.ts';
import { Assignments } from '../src/truth/assignments.ts';
import type { GroundTruthLoad, GroundTruthMatrix, LoadProtocol } from '../src/truth/ground-truth.ts';
import { gzipMember, readMembers } from '../src/truth/gzip-members.ts';
import { lockFolder } from '../src/truth/lock.ts';
import { Done, planLoads } from '../src/truth/matrix.ts';
import { isCachedWhole } from '../src/truth/matrix-page.ts';
import { addMatrixOptions, matrixOptions } from '../src/truth/options.ts';
import { cellFile, GroundTruthStore, readLoads } from '../src/truth/store.ts';
import { type GroundTruthSummary, summarise } from '../src/truth/summary.ts';
import { drawCharts } from '../src/truth/summary-charts.ts';
import { summariseFolder } from '../src/truth/summary-command.ts';
import { renderSummaryHtml } from '../src/truth/summary-html.ts';
import { renderSummaryText } from '../src/truth/summary-text.ts';
import { replaceFileWithin } from '../src/write-file.ts';

const network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 50,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 50 },
  udp: 'open',
} as const;

const matrix: GroundTruthMatrix = {
  format: 'hopwise-ground-truth',
  version: 1,
  networks: { fast: { title: 'Fibre', network } },
  pages: { app: { source: 'app', requests: 70, origins: 6, bytes: 1_200_000, digest: 'a1' } },
  protocols: ['h1', 'h2', 'h3'],
  views: ['cold'],
  seeds: [1, 2],
  browser: 'Chromium headless shell 156.0.1.2',
  server: { congestionControl: 'cubic', initialWindow: 10, priorities: 'honoured' },
  ipVersion: 4,
  timeoutMs: 120_000,
  machine: { cpu: 'a processor', cores: 2, kernel: '6.1' },
};

const quic: LabFacts['quic'] = {
  stack: 'quic-go 0.59.1',
  congestionControl: 'reno',
  initialWindow: 32,
  minimumWindow: 2,
  lossFactor: 0.7,
  pacingFactor: 1.25,
  pacingBurst: 10,
  initialPacketBytes: 1280,
  maxPacketBytes: 1452,
  initialRttMs: 100,
  maxAckDelayMs: 25,
  streamWindowBytes: 524_288,
  maxStreamWindowBytes: 6_291_456,
  connectionWindowBytes: 786_432,
  maxConnectionWindowBytes: 15_728_640,
};

const drops = { queue: 0, loss: 0, udpBlocked: 0, udpPoliced: 0, udpLoss: 0, device: 0 };
const recording: Recording = {
  format: 'hopwise-recording',
  version: 1,
  url: 'https://app.test/',
  recordedAt: '2026-01-01T00:00:00Z',
  browser: 'Chromium',
  pltMs: 100,
  domContentLoadedMs: 50,
  firstContentfulPaintMs: 40,
  largestContentfulPaintMs: 60,
  requests: [],
};

function load(protocol: LoadProtocol, seed: number, pltMs = 100): GroundTruthLoad {
  return {
    format: 'hopwise-load',
    version: 1,
    page: 'app',
    network: 'fast',
    protocol,
    view: 'cold',
    seed,
    at: '2026-01-01T00:00:00.000Z',
    repeated: 0,
    disturbance: { latenessMs: 0.2, foreignCpu: 0 },
    disturbed: false,
    drops: { down: drops, up: drops },
    outcome: { ok: true, pltMs, fcpMs: null, lcpMs: null, proved: true, failed: [], recording },
  };
}

const unreachable = (protocol: LoadProtocol, seed: number): GroundTruthLoad => ({
  ...load(protocol, seed),
  outcome: { ok: false, kind: 'unreachable', reason: 'no answer' },
});

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-matrix-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const loadsFile = () => join(dir, 'loads', cellFile('app', 'fast'));
const openStore = async (asked = matrix) => {
  const found: GroundTruthLoad[] = [];
  const store = await GroundTruthStore.open(dir, asked, (one) => found.push(one));
  return { store, found };
};

describe('the plan', () => {
  const axes = {
    pages: ['app', 'shop'],
    networks: ['fast', 'lte'],
    protocols: ['h1', 'h2', 'h3'] satisfies LoadProtocol[],
    views: ['cold' as const],
    seeds: [1, 2, 3],
  };

  it('ends with a page before the next, and with a network before the next', () => {
    const plan = planLoads({ ...axes });
    expect(plan).toHaveLength(2 * 2 * 3 * 3);
    const cells = plan.map(({ page, network }) => `${page} ${network}`);
    expect(cells.filter((cell, index) => cell !== cells[index - 1])).toEqual([
      'app fast',
      'app lte',
      'shop fast',
      'shop lte',
    ]);
  });

  it('lets the protocols of a seed take turns', () => {
    const first = planLoads({ ...axes }).slice(0, 9);
    expect(first.map(({ protocol, seed }) => `${seed} ${protocol}`)).toEqual([
      '1 h1',
      '1 h2',
      '1 h3',
      '2 h3',
      '2 h2',
      '2 h1',
      '3 h2',
      '3 h3',
      '3 h1',
    ]);
  });

  it('has assigned after the first natural load, of which it may be made, in every cell', () => {
    const protocols: LoadProtocol[] = ['assigned', 'h1', 'natural'];
    const plan = planLoads({ ...axes, protocols });
    const cells = new Set(plan.map(({ page, network }) => `${page} ${network}`));
    expect(cells.size).toBe(4);
    for (const cell of cells) {
      const own = plan
        .filter(({ page, network }) => `${page} ${network}` === cell)
        .map(({ protocol, seed }) => `${seed} ${protocol}`);
      expect(own.indexOf('1 assigned'), own.join()).toBeGreaterThan(own.indexOf('1 natural'));
    }
    // Later it takes its turn.
    const later = plan.filter(({ seed }) => seed > 1).map(({ protocol }) => protocol);
    expect(later.some((protocol, index) => protocol === 'natural' && later[index - 1] === 'assigned')).toBe(
      true,
    );
  });

  it('counts all seeds of a protocol as done after two without an answer, unless one of its loads had one', () => {
    const done = new Done();
    done.add(unreachable('h3', 1));
    expect(done.has(load('h3', 1))).toBe(true);
    expect(done.has(load('h3', 3))).toBe(false);
    done.add({ ...unreachable('h3', 2), disturbed: true });
    expect(done.has(load('h3', 3))).toBe(false);
    done.add(unreachable('h3', 2));
    expect(done.has(load('h3', 3))).toBe(true);
    expect(done.has({ ...load('h3', 3), network: 'lte' })).toBe(false);
    for (const seed of [1, 2]) done.add(unreachable('h1', seed));
    done.add(load('h1', 3));
    expect(done.has(load('h1', 4))).toBe(false);
  });

  it('takes one seed for an answer where the network lets nothing through', () => {
    const done = new Done(({ protocol }) => protocol === 'h3');
    done.add(unreachable('h3', 1));
    done.add(unreachable('h2', 1));
    expect(done.has(load('h3', 2))).toBe(true);
    expect(done.has(load('h2', 2))).toBe(false);
  });

  it("takes no failure of the browser for the page's", () => {
    const done = new Done();
    done.add({ ...load('h2', 1), outcome: { ok: false, kind: 'browser', reason: 'crashed' } });
    expect(done.has(load('h2', 1))).toBe(false);
  });
});

describe('gzip members', () => {
  const whole = Buffer.concat([gzipMember('one'), gzipMember('two'), gzipMember('three')]);
  const lastAt = whole.length - gzipMember('three').length;

  it('reads what other programs read', () => {
    expect(readMembers(whole).contents.map(String)).toEqual(['one', 'two', 'three']);
    expect(gunzipSync(whole).toString()).toBe('onetwothree');
  });

  it('finds the last member torn, wherever the writer was killed', () => {
    for (let length = lastAt; length < whole.length; length++) {
      const { contents, wholeBytes } = readMembers(whole.subarray(0, length));
      expect(contents.map(String), `${length} bytes`).toEqual(['one', 'two']);
      expect(wholeBytes).toBe(lastAt);
    }
  });

  it('takes zeros at the end for torn, as a loss of power leaves them', () => {
    expect(readMembers(Buffer.concat([whole, Buffer.alloc(500)])).wholeBytes).toBe(whole.length);
  });

  it('says at which byte a member is damaged', () => {
    const damaged = Buffer.from(whole);
    damaged[lastAt - 6]! ^= 1;
    expect(() => readMembers(damaged)).toThrow(/^byte 23: the content does not match its checksum$/);
    expect(() => readMembers(Buffer.concat([whole, Buffer.from('nonsense')]))).toThrow(
      `byte ${whole.length}: expected a gzip member`,
    );
  });
});

describe('the store', () => {
  it('gives back what it was given', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    await store.append(unreachable('h3', 1));
    await store.close();
    const { store: again, found } = await openStore();
    await again.close();
    expect(found).toEqual([load('h1', 1), unreachable('h3', 1)]);
    expect(JSON.parse(await readFile(join(dir, 'matrix.json'), 'utf8'))).toEqual(matrix);
  });

  it('cuts a torn load off and goes on after the last whole one', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    const { size } = await stat(loadsFile());
    await store.append(load('h2', 1));
    await store.close();
    await truncate(loadsFile(), (await stat(loadsFile())).size - 5);
    // Who only reads passes over it.
    const read: GroundTruthLoad[] = [];
    for await (const one of readLoads(dir)) read.push(one);
    expect(read).toEqual([load('h1', 1)]);

    const { store: again, found } = await openStore();
    expect(found).toEqual([load('h1', 1)]);
    expect(again.cutBytes).toBeGreaterThan(0);
    expect((await stat(loadsFile())).size).toBe(size);
    await again.append(load('h2', 1));
    await again.close();
    const { found: all, store: last } = await openStore();
    await last.close();
    expect(all).toEqual([load('h1', 1), load('h2', 1)]);
  });

  it('names the file and place of what is no load, and loses nothing', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    await store.close();
    await appendFile(loadsFile(), gzipMember('{"format":"hopwise-load"}'));
    const { size } = await stat(loadsFile());
    await expect(openStore()).rejects.toThrow(/app--fast\.jsonl\.gz: load 2: version: /);
    expect((await stat(loadsFile())).size).toBe(size);
    // The lock of the refused run is gone.
    await expect(openStore()).rejects.toThrow(/load 2/);
  });

  it('takes more pages, networks, protocols and seeds into a folder', async () => {
    await (await openStore()).store.close();
    const { store } = await openStore({
      ...matrix,
      pages: { shop: { ...matrix.pages.app!, source: 'shop' } },
      networks: { lte: { title: 'LTE', network: { ...network, rttMs: 70 } } },
      protocols: ['natural'],
      seeds: [3],
    });
    await store.close();
    expect(store.matrix).toMatchObject({
      pages: { app: { source: 'app' }, shop: { source: 'shop' } },
      networks: { fast: { title: 'Fibre' }, lte: { title: 'LTE' } },
      protocols: ['h1', 'h2', 'h3', 'natural'],
      seeds: [1, 2, 3],
    });
  });

  it.each<[string, Partial<GroundTruthMatrix>, RegExp]>([
    [
      'page',
      { pages: { app: { ...matrix.pages.app!, digest: 'b2' } } },
      /loads are of another page app: a1, now b2: use another folder$/,
    ],
    [
      'network',
      { networks: { fast: { title: 'Fibre', network: { ...network, rttMs: 12 } } } },
      /another network fast, rttMs: 10, now 12/,
    ],
    ['browser', { browser: 'Chromium 157.0.0.0' }, /another browser: Chromium headless shell 156/],
    [
      'server',
      { server: { ...matrix.server, priorities: 'ignored' } },
      /another server, priorities: honoured, now ignored/,
    ],
    ['time limit', { timeoutMs: 60_000 }, /another time limit of a load in ms: 120000, now 60000: use/],
    ['IP version', { ipVersion: 6 }, /another IP version: 4, now 6/],
    ['machine', { machine: { ...matrix.machine, cores: 4 } }, /another machine: 2 × a processor/],
  ])('refuses a folder of another %s', async (_, change, message) => {
    await (await openStore()).store.close();
    await expect(openStore({ ...matrix, ...change })).rejects.toThrow(message);
    expect(JSON.parse(await readFile(join(dir, 'matrix.json'), 'utf8'))).toEqual(matrix);
  });

  it('writes down the lab of the first load, and refuses another', async () => {
    const { store } = await openStore();
    await store.addLab({ quic, scheduling: 'fifo' });
    await store.append(load('h1', 1));
    await store.close();
    const { store: again } = await openStore();
    expect(again.matrix).toEqual({ ...matrix, server: { ...matrix.server, quic }, scheduling: 'fifo' });
    await again.addLab({ quic, scheduling: 'fifo' });
    await expect(again.addLab({ quic: { ...quic, stack: 'quic-go 1' }, scheduling: 'fifo' })).rejects.toThrow(
      /another server, quic, stack: quic-go 0\.59\.1, now quic-go 1: use another folder$/,
    );
    await expect(again.addLab({ quic, scheduling: 'normal' })).rejects.toThrow(
      /another scheduling of the link's threads: fifo, now normal/,
    );
    await again.close();
  });

  it('goes on with a folder that says less of how it was made, and claims no more of it', async () => {
    const { timeoutMs: _timeoutMs, ipVersion: _ipVersion, ...older } = matrix;
    const { store } = await openStore(older);
    await store.append(load('h1', 1));
    await store.close();
    const { store: again } = await openStore();
    await again.addLab({ quic, scheduling: 'fifo' });
    expect(again.matrix).toEqual(older);
    await again.close();
    await expect(openStore({ ...matrix, ipVersion: 6 })).rejects.toThrow(/another IP version: 4, now 6/);
  });

  it.each<[string, object, RegExp]>([
    [
      'network that is none',
      { networks: { fast: { title: 'x', network: { ...network, loss: 2 } } } },
      /networks\.fast\.network\.loss: /,
    ],
    ['network whose name is a path', { networks: { '../../up': matrix.networks.fast } }, /networks/],
    ['page with a control character', { pages: { 'a\u001b[2J': matrix.pages.app } }, /pages/],
    ['page whose name is a path', { pages: { 'a/b': matrix.pages.app } }, /pages/],
    ['title with a control character', { networks: { fast: { title: '\u0007', network } } }, /title/],
  ])('refuses a matrix.json with a %s', async (_, change, message) => {
    await writeFile(join(dir, 'matrix.json'), JSON.stringify({ ...matrix, ...change }));
    await expect(openStore()).rejects.toThrow(message);
  });

  it('refuses a load of a page or network that cannot be', async () => {
    await (await openStore()).store.close();
    for (const change of [{ page: '../up' }, { network: 'a b' }, { page: '__proto__' }]) {
      await writeFile(loadsFile(), gzipMember(JSON.stringify({ ...load('h1', 1), ...change })));
      await expect(openStore()).rejects.toThrow(/load 1: (page|network): /);
    }
  });

  it('refuses a matrix.json of something else', async () => {
    await writeFile(join(dir, 'matrix.json'), '{"format":"other"}');
    await expect(openStore()).rejects.toThrow(/matrix\.json: format: /);
  });
});

describe('the lock', () => {
  it('keeps a second run out, and lets it in afterwards', async () => {
    const unlock = await lockFolder(dir);
    await expect(lockFolder(dir)).rejects.toThrow(`process ${process.pid} is measuring into this folder`);
    await unlock();
    await (await lockFolder(dir))();
  });

  it('is taken over from a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    await writeFile(join(dir, 'lock'), `${child.pid} 12345\n`);
    await (await lockFolder(dir))();
  });

  it('is taken over when its process id is another process now', async () => {
    await writeFile(join(dir, 'lock'), `${process.pid} 1\n`);
    await (await lockFolder(dir))();
  });

  it('lets one of many in that find it stale at once', async () => {
    await writeFile(join(dir, 'lock'), '999999999 1\n');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dir)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('options', () => {
  const parse = (...args: string[]) => {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    return matrixOptions(addMatrixOptions(command).parse(args, { from: 'user' }));
  };

  it('has a default for everything', () => {
    expect(parse()).toMatchObject({
      pages: ['shop', 'news', 'app'],
      networks: ['all'],
      protocols: ['h1', 'h2', 'h3', 'natural'],
      seeds: [1, 2, 3, 4, 5],
      views: ['cold'],
      ipVersion: 4,
    });
  });

  it('takes networks of one’s own, and IPv6', () => {
    expect(parse('--network-file', 'own.json', '--networks', 'dorm', '--ip', '6')).toMatchObject({
      networkFile: 'own.json',
      networks: ['dorm'],
      ipVersion: 6,
    });
  });

  it('reads lists, seeds and limits', () => {
    expect(parse('--pages', 'a.har, shop', '--seeds', '6-8', '--limit-minutes', '1.5')).toMatchObject({
      pages: ['a.har', 'shop'],
      seeds: [6, 7, 8],
      limitMs: 90_000,
    });
  });

  it.each([
    [['--protocols', 'h1,h4'], /h4: expected some of h1, h2, h3, natural, assigned/],
    [['--seeds', '0'], /expected a number of seeds/],
    [['--seeds', '9-3'], /expected a number of seeds/],
    [['--limit-minutes', '-1'], /expected minutes/],
    [['--pages', 'a,,b'], /expected names with commas between/],
    [['--protocols', 'h1,assigned'], /expected natural and the cold view too/],
    [['--assignments', 'a.json'], /--assignments goes with/],
    [['--browser', 'other'], /headless-shell, full/],
    [['--ip', '5'], /4, 6/],
  ])('refuses %j', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });
});

describe('isCachedWhole', () => {
  const site = (...controls: (string | undefined)[]): Site => ({
    format: 'hopwise-site',
    version: 1,
    name: 'a',
    entry: 'https://a.test/',
    origins: [],
    resources: controls.map((control, index) => ({
      origin: 'https://a.test',
      path: `/${index}`,
      status: 200,
      headers: { ...(control !== undefined && { 'Cache-Control': control }) },
      body: { filler: 'bytes', bytes: 1 },
      thinkMs: 0,
    })),
  });

  it('is so where every answer may be used again unasked', () => {
    expect(isCachedWhole(site('public, max-age=3600', 'max-age=1'))).toBe(true);
    for (const control of ['no-cache', 'no-store', 'max-age=0', 'max-age=60, no-cache', undefined])
      expect(isCachedWhole(site('max-age=3600', control)), control).toBe(false);
  });
});

describe('assignments', () => {
  const origin = 'https://app.test';
  const site = {
    format: 'hopwise-site' as const,
    version: 1 as const,
    name: 'app',
    entry: `${origin}/`,
    origins: [{ origin, protocols: ['h1' as const, 'h2' as const], extraRttMs: 0 }],
    resources: [],
  };

  it('takes the file’s, and names what it lacks', () => {
    const file = { app: { fast: { [origin]: 'h1' as const }, lte: { [origin]: 'h3' as const } } };
    const assignments = new Assignments(file);
    expect(assignments.of('app', 'fast', site)).toEqual({ [origin]: 'h1' });
    expect(() => assignments.of('app', 'lte', site)).toThrow(
      /lte, https:\/\/app\.test: expected h1 or h2, got h3/,
    );
    expect(() => assignments.of('app', 'slow', site)).toThrow('expected one for page app, network slow');
  });

  it('keeps to the assignment that a cell was measured under', () => {
    const assigned = { ...load('assigned', 1), assignment: { [origin]: 'h2' as const } };
    const again = new Assignments(null);
    again.add(assigned);
    expect(again.of('app', 'fast', site)).toEqual({ [origin]: 'h2' });
    expect(again.of('app', 'lte', site)).toBeNull();
    const other = new Assignments({ app: { fast: { [origin]: 'h1' } } });
    other.add(assigned);
    expect(() => other.of('app', 'fast', site)).toThrow(/loads under another assignment/);
  });
});

describe('the summary', () => {
  const series = (protocol: LoadProtocol, ...times: number[]) =>
    times.map((pltMs, index) => load(protocol, index + 1, pltMs));
  const warm = (loads: GroundTruthLoad[]) => loads.map((one) => ({ ...one, view: 'warm' as const }));
  const cold = (summary: GroundTruthSummary) => summary.views.cold!;

  it('finds the fastest protocol, by how much, and whether that is decided', () => {
    const summary = summarise(matrix, [
      ...series('h1', 120, 121, 119, 122, 118),
      ...series('h2', 100, 101, 99, 102, 98),
      ...series('h3', 150, 151, 149, 152, 148),
      ...series('natural', 90, 91, 92),
    ]);
    const { cells } = summary;
    expect(cells).toHaveLength(1);
    expect(cells[0]).toMatchObject({ best: 'h2', agreement: 1, seeds: 5, clear: true, decided: true });
    expect(cells[0]!.margin).toBeCloseTo(0.2);
    expect(cells[0]!.protocols.h2).toMatchObject({ loads: 5, medianMs: 100, lowMs: 98, highMs: 102 });
    expect(cells[0]!.protocols.h2!.medianLowMs).toBeGreaterThanOrEqual(98);
    expect(cells[0]!.protocols.h2!.cv).toBeCloseTo(Math.sqrt(2.5) / 100);
    // Over the three seeds that both have: 91 over 100.
    expect(cells[0]!.protocols.natural!.overBest).toBeCloseTo(0.91);
    expect(cold(summary).wins).toMatchObject({
      h1: { cells: 0 },
      h2: { cells: 1, clear: 1, decided: 1 },
      h3: { cells: 0 },
    });
  });

  it('decides nothing between equals, nor by 5%, nor of four seeds', () => {
    const decided = (...loads: GroundTruthLoad[]) => summarise(matrix, loads).cells[0]!.decided;
    expect(decided(...series('h1', 100, 130, 110, 90, 120), ...series('h2', 101, 129, 111, 91, 119))).toBe(
      false,
    );
    const h2 = series('h2', 100, 100, 100, 100, 100);
    expect(decided(...series('h1', 105, 105, 105, 105, 105), ...h2)).toBe(false);
    expect(decided(...series('h1', 106, 106, 106, 106, 106), ...h2)).toBe(true);
    expect(decided(...series('h1', 106, 106, 106, 106), ...h2)).toBe(false);
  });

  it('judges the repeat view apart', () => {
    const { views } = summarise({ ...matrix, views: ['cold', 'warm'] }, [
      ...series('h1', 120, 120, 120, 120, 120),
      ...series('h2', 100, 100, 100, 100, 100),
      ...warm([...series('h1', 10, 10, 10, 10, 10), ...series('h2', 20, 21, 22, 23, 24)]),
    ]);
    expect(views.cold).toMatchObject({
      cells: 1,
      wins: { h1: { cells: 0 }, h2: { cells: 1 } },
      noiseFloor: { cells: 1 },
      quietSpread: { series: 2, max: 0 },
    });
    expect(views.warm).toMatchObject({ cells: 1, wins: { h1: { cells: 1 }, h2: { cells: 0 } } });
    const regretOf = (view: 'cold' | 'warm') =>
      views[view]!.rules.find(({ rule }) => rule === 'alwaysH2')!.regret!.mean;
    expect(regretOf('cold')).toBe(0);
    expect(regretOf('warm')).toBeCloseTo(1.2);
  });

  it('leaves disturbed loads out of all figures with their seed, and counts them', () => {
    const disturbed = { ...load('h1', 2, 9000), disturbed: true, repeated: 4 };
    const { cells, loads } = summarise(matrix, [
      load('h1', 1, 100),
      disturbed,
      load('h1', 3, 110),
      ...series('h2', 90, 1, 90),
    ]);
    expect(cells[0]!.protocols.h1).toMatchObject({ loads: 2, medianMs: 105 });
    expect(cells[0]!.protocols.h2).toMatchObject({ loads: 2, medianMs: 90 });
    expect(loads).toMatchObject({ kept: 6, judging: 4, dropped: 4 });
    expect(loads.leftOut).toMatchObject({ disturbed: 1, unpaired: 1 });
  });

  it('judges rules against the best of each cell, by the browser’s own choice where HTTP/3 is unreachable', () => {
    const summary = summarise(matrix, [
      ...series('h1', 120, 120, 120, 120),
      ...series('h2', 100, 100, 100, 100),
      ...series('natural', 110, 110, 110, 110),
      unreachable('h3', 1),
      unreachable('h3', 2),
    ]);
    const { rules, noiseFloor, quietSpread } = cold(summary);
    const judged = (name: string) => rules.find(({ rule }) => rule === name)!;
    expect(judged('alwaysH1').regret!.mean).toBeCloseTo(0.2);
    expect(judged('alwaysH1').halfRegret).toBeCloseTo(0.2);
    expect(judged('alwaysH2').regret!.mean).toBe(0);
    expect(judged('alwaysH3')).toMatchObject({ cells: 1, fallbacks: 1 });
    expect(judged('alwaysH3').regret!.mean).toBeCloseTo(0.1);
    expect(noiseFloor).toMatchObject({ cells: 1, regret: { mean: 0 } });
    expect(quietSpread).toMatchObject({ series: 3, max: 0 });
    expect(summary.loads).toMatchObject({ unreachable: 2, judging: 14 });
  });

  it('puts what protocols cannot be told apart by into the noise floor', () => {
    const { noiseFloor } = cold(
      summarise(matrix, [
        ...series('h1', 100, 140, 120, 80, 110, 90),
        ...series('h2', 101, 139, 121, 81, 109, 91),
      ]),
    );
    expect(noiseFloor.regret!.mean).toBeGreaterThan(0.002);
    expect(noiseFloor.regret!.mean).toBeLessThan(0.02);
  });

  const hostilePage = '<img src=x onerror=alert(1)>';
  // The store reads no such names; the parts do without it.
  const hostileNetwork = '../../out';
  const hostile: GroundTruthMatrix = {
    ...matrix,
    pages: { [hostilePage]: matrix.pages.app! },
    networks: { [hostileNetwork]: { title: '<b>Fibre', network } },
  };
  const hostileLoads = [
    ...series('h1', 120, 121, 119),
    ...series('h2', 100, 101, 99),
    unreachable('h3', 1),
    unreachable('h3', 2),
  ].map((one) => ({ ...one, page: hostilePage, network: hostileNetwork }));

  it('shows it as text, charts and HTML that holds no markup from names', async () => {
    const summary = summarise(hostile, hostileLoads);
    expect(renderSummaryText(summary)).toMatch(
      /0\.12 0\.12–0\.12 1% .* unreachable .* HTTP\/2 +20\.0% +100% of 3\n/,
    );
    const charts = drawCharts(summary, hostile);
    expect(charts.map((chart) => chart.name)).toEqual(['compared', '..-..-out']);
    for (const { svg } of charts) {
      expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      expect(svg).toContain('var(--hw-h2)');
    }
    const html = await renderSummaryHtml(summary, hostile, charts);
    expect(html).toContain('&lt;img src=x');
    expect(html).not.toMatch(/<img|<b>|<script/);
  });

  it('writes nothing outside of the folder, whatever links are in it', async () => {
    const folder = join(dir, 'measured');
    await mkdir(join(folder, 'loads'), { recursive: true });
    await writeFile(join(folder, 'matrix.json'), JSON.stringify(matrix));
    const lines = [...series('h1', 120, 121), ...series('h2', 100, 101)].map((one) =>
      gzipMember(`${JSON.stringify(one)}\n`),
    );
    await writeFile(join(folder, 'loads', 'x.jsonl.gz'), Buffer.concat(lines));
    await writeFile(join(dir, 'victim'), 'untouched');
    await symlink(join(dir, 'victim'), join(folder, 'index.html'));
    await summariseFolder(folder, { json: false });
    expect((await readdir(folder)).sort()).toEqual([
      'index.html',
      'loads',
      'matrix.json',
      'plots',
      'summary.json',
    ]);
    expect((await readdir(join(folder, 'plots'))).sort()).toEqual(['compared.svg', 'fast.svg']);
    expect(await readFile(join(folder, 'plots/fast.svg'), 'utf8')).toContain('prefers-color-scheme: dark');
    expect(await readFile(join(dir, 'victim'), 'utf8')).toBe('untouched');

    await mkdir(join(dir, 'elsewhere'));
    await rm(join(folder, 'plots'), { recursive: true });
    await symlink(join(dir, 'elsewhere'), join(folder, 'plots'));
    await expect(summariseFolder(folder, { json: false })).rejects.toThrow(
      /expected the name of a file within/,
    );
    expect(await readdir(join(dir, 'elsewhere'))).toEqual([]);
  });

  it.each(['../up', 'plots/../../up', '..', '.', ''])('refuses to write %j', async (name) => {
    const folder = join(dir, 'folder');
    await mkdir(folder);
    await expect(replaceFileWithin(folder, name, 'x')).rejects.toThrow(/expected the name of a file within/);
    expect(await readdir(folder)).toEqual([]);
    expect(await readdir(dir)).toEqual(['folder']);
  });
});
