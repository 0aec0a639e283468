import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LabFacts } from '../../src/client/lab.ts';
import { lockFolder } from '../../src/command/measuring-lock.ts';
import type { GroundTruthLoad, GroundTruthMatrix } from '../../src/ground-truth/ground-truth.ts';
import { gzipMember, readMembers } from '../../src/ground-truth/gzip-members.ts';
import { cellFile, GroundTruthStore, readLoads } from '../../src/ground-truth/store.ts';
import { load, matrix, network, unreachable } from '../support/measured-loads.ts';

const tcp: LabFacts['tcp'] = { stack: 'Go net/http' };

const quic: NonNullable<LabFacts['quic']> = {
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

describe('gzip members', () => {
  const whole = Buffer.concat([gzipMember('one'), gzipMember('two'), gzipMember('three')]);
  const lastAt = whole.length - gzipMember('three').length;

  it('is readable by other programs', () => {
    expect(readMembers(whole).contents.map(String)).toEqual(['one', 'two', 'three']);
    expect(gunzipSync(whole).toString()).toBe('onetwothree');
  });

  it('detects a truncated last member, cut at any byte', () => {
    for (let length = lastAt; length < whole.length; length++) {
      const { contents, wholeBytes } = readMembers(whole.subarray(0, length));
      expect(contents.map(String), `${length} bytes`).toEqual(['one', 'two']);
      expect(wholeBytes).toBe(lastAt);
    }
  });

  it('treats zeros at the end, as left by a power loss, as truncated', () => {
    expect(readMembers(Buffer.concat([whole, Buffer.alloc(500)])).wholeBytes).toBe(whole.length);
  });

  it('reports the byte at which a member is damaged', () => {
    const damaged = Buffer.from(whole);
    damaged[lastAt - 6]! ^= 1;
    expect(() => readMembers(damaged)).toThrow(/^byte 23: the content does not match its checksum$/);
    expect(() => readMembers(Buffer.concat([whole, Buffer.from('nonsense')]))).toThrow(
      `byte ${whole.length}: expected a gzip member`,
    );
  });
});

describe('the store', () => {
  it('returns the loads that were added', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    await store.append(unreachable('h3', 1));
    await store.close();
    const { store: again, found } = await openStore();
    await again.close();
    expect(found).toEqual([load('h1', 1), unreachable('h3', 1)]);
    expect(JSON.parse(await readFile(join(dir, 'matrix.json'), 'utf8'))).toEqual(matrix);
  });

  it('cuts off a truncated load and continues after the last complete one', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    const { size } = await stat(loadsFile());
    await store.append(load('h2', 1));
    await store.close();
    await truncate(loadsFile(), (await stat(loadsFile())).size - 5);
    // Readers ignore it.
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

  it('reads loads of folders of old versions', async () => {
    const { store } = await openStore();
    await store.close();
    const old = { ...load('h1', 1), format: 'hopwise-load' };
    await appendFile(loadsFile(), gzipMember(JSON.stringify(old)));
    const { store: again, found } = await openStore();
    await again.close();
    expect(found).toEqual([load('h1', 1)]);
  });

  it('names the file and place of an invalid load, and loses nothing', async () => {
    const { store } = await openStore();
    await store.append(load('h1', 1));
    await store.close();
    await appendFile(loadsFile(), gzipMember('{"format":"hopwise-measured-load"}'));
    const { size } = await stat(loadsFile());
    await expect(openStore()).rejects.toThrow(/app--fast\.jsonl\.gz: load 2: version: /);
    expect((await stat(loadsFile())).size).toBe(size);
    // The refused run has left no lock.
    await expect(openStore()).rejects.toThrow(/load 2/);
  });

  it('adds pages, networks, protocols and seeds to a folder', async () => {
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
      /loads were made with another page app: a1, now b2: use another folder$/,
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
    [
      'stack of servers',
      { server: { ...matrix.server, stack: 'nginx-quiche' } },
      /another server, stack: go, now nginx-quiche/,
    ],
    ['time limit', { timeoutMs: 60_000 }, /another time limit of a load in ms: 120000, now 60000: use/],
    ['IP version', { ipVersion: 6 }, /another IP version: 4, now 6/],
    ['machine', { machine: { ...matrix.machine, cores: 4 } }, /another machine: 2 × a processor/],
  ])('refuses a folder of another %s', async (_, change, message) => {
    await (await openStore()).store.close();
    await expect(openStore({ ...matrix, ...change })).rejects.toThrow(message);
    expect(JSON.parse(await readFile(join(dir, 'matrix.json'), 'utf8'))).toEqual(matrix);
  });

  it('stores the lab’s facts with the first load, and refuses another lab', async () => {
    const { store } = await openStore();
    await store.addLab({ tcp, quic, scheduling: 'fifo' });
    await store.append(load('h1', 1));
    await store.close();
    const { store: again } = await openStore();
    expect(again.matrix).toEqual({ ...matrix, server: { ...matrix.server, tcp, quic }, scheduling: 'fifo' });
    await again.addLab({ tcp, quic, scheduling: 'fifo' });
    await expect(
      again.addLab({ tcp, quic: { ...quic, stack: 'quic-go 1' }, scheduling: 'fifo' }),
    ).rejects.toThrow(/another server, quic, stack: quic-go 0\.59\.1, now quic-go 1: use another folder$/);
    await expect(again.addLab({ tcp, quic, scheduling: 'normal' })).rejects.toThrow(
      /another scheduling of the link's threads: fifo, now normal/,
    );
    await again.close();
  });

  it('continues a folder with fewer recorded settings, and adds none', async () => {
    const { timeoutMs: _timeoutMs, ipVersion: _ipVersion, ...older } = matrix;
    const { store } = await openStore(older);
    await store.append(load('h1', 1));
    await store.close();
    const { store: again } = await openStore();
    await again.addLab({ tcp, quic, scheduling: 'fifo' });
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

  it('refuses a load with an invalid page or network name', async () => {
    await (await openStore()).store.close();
    for (const change of [{ page: '../up' }, { network: 'a b' }, { page: '__proto__' }]) {
      await writeFile(loadsFile(), gzipMember(JSON.stringify({ ...load('h1', 1), ...change })));
      await expect(openStore()).rejects.toThrow(/load 1: (page|network): /);
    }
  });

  it('refuses a matrix.json of another format', async () => {
    await writeFile(join(dir, 'matrix.json'), '{"format":"other"}');
    await expect(openStore()).rejects.toThrow(/matrix\.json: format: /);
  });
});

describe('the lock', () => {
  it('excludes a second run, and admits it afterwards', async () => {
    const unlock = await lockFolder(dir);
    await expect(lockFolder(dir)).rejects.toThrow(`process ${process.pid} is measuring into this folder`);
    await unlock();
    await (await lockFolder(dir))();
  });

  it('is taken over from a process that has ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    await writeFile(join(dir, 'lock'), `${child.pid} 12345\n`);
    await (await lockFolder(dir))();
  });

  it('is taken over when its process id is another process now', async () => {
    await writeFile(join(dir, 'lock'), `${process.pid} 1\n`);
    await (await lockFolder(dir))();
  });

  it('admits one of many that find it stale at the same time', async () => {
    await writeFile(join(dir, 'lock'), '999999999 1\n');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dir)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
