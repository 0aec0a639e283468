import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  failedLoad,
  loadOf,
  page,
  wholeCell,
  writeFolder,
} from '../../../lab/test/support/measured-loads.ts';
import { readCells } from '../../src/accuracy/cells.ts';
import { serversOf } from '../../src/accuracy/hopwise.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-accuracy-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('readCells', () => {
  it('gathers load times by protocol and seed, and the recordings of natural loads', async () => {
    await writeFolder(dir, wholeCell());
    const { cells, loads } = await readCells(dir);
    expect(loads).toBe(12);
    expect(cells).toHaveLength(1);
    const [cell] = cells;
    expect(cell!.loads.pltMs.get('h3')).toEqual(
      new Map([
        [1, 321],
        [2, 322],
        [3, 323],
      ]),
    );
    expect(cell!.path).toMatchObject({ rttMs: 40, downBps: 20e6, queueBytes: 250_000 });
    expect(cell!.recordedUnder).toBe('natural');
    expect(cell!.recorded.map(({ seed }) => seed)).toEqual([1, 2, 3]);
    for (const { judgingSeeds } of cell!.recorded) expect(judgingSeeds).toEqual([1, 2, 3]);
  });

  it('leaves out loads that do not judge, and counts them', async () => {
    const unproved = loadOf('h1', 9, 1);
    if (unproved.outcome.ok) unproved.outcome.proved = false;
    await writeFolder(dir, [
      ...wholeCell(),
      unproved,
      loadOf('h2', 9, 1, { disturbed: true }),
      loadOf('h3', 9, 1, { view: 'warm' }),
      failedLoad('h3', 10),
      failedLoad('h2', 10),
    ]);
    const { cells, leftOut, warm, loads } = await readCells(dir);
    expect(leftOut).toEqual({
      disturbed: 1,
      browser: 0,
      unproved: 1,
      incomplete: 0,
      replaced: 0,
      unconfirmed: 0,
      // The seed of the failed loads has no load of h1.
      unpaired: 2,
    });
    expect(warm).toBe(1);
    expect(loads).toBe(12);
    expect(cells[0]!.loads.pltMs.get('h1')!.size).toBe(3);
    expect(cells[0]!.loads.missing.size).toBe(0);
  });

  it('recognises a protocol that never loaded the page', async () => {
    const loads = wholeCell().filter(({ protocol }) => protocol !== 'h3');
    await writeFolder(dir, [...loads, failedLoad('h3', 1), failedLoad('h3', 2)]);
    const { missing } = (await readCells(dir)).cells[0]!.loads;
    expect([...missing]).toEqual([['h3', { kind: 'unreachable', reason: 'no answer' }]]);
  });

  it('gives each page earlier loads of other pages, natural ones first', async () => {
    const named = (name: string, protocol: 'h1' | 'h2' | 'h3' | 'natural', seed: number, network = 'net') => {
      const load = loadOf(protocol, seed, 400 + seed, { page: name, network });
      if (load.outcome.ok) {
        const requests = [{ ...page.requests[0]!, url: `https://${name}.test/${protocol}${seed}` }];
        load.outcome.recording = { ...page, requests };
      }
      return load;
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    const loads = names.flatMap((name) =>
      [2, 1].flatMap((seed) => (['h1', 'h2', 'h3'] as const).map((protocol) => named(name, protocol, seed))),
    );
    const source = { source: 'shop', requests: 1, origins: 1, bytes: 1, digest: '0' };
    const pages = Object.fromEntries(names.map((name) => [name, source]));
    await writeFolder(dir, loads, { pages });
    const before = async (selection = {}) =>
      Object.fromEntries(
        (await readCells(dir, selection)).cells.map((cell) => [
          cell.page,
          cell.earlier.map(({ requests }) => requests[0]!.url.slice('https://'.length)),
        ]),
      );
    const forced = {
      a: ['b.test/h21', 'c.test/h31', 'd.test/h31'],
      b: ['c.test/h21', 'd.test/h31', 'e.test/h31'],
      c: ['d.test/h21', 'e.test/h31', 'a.test/h31'],
      d: ['e.test/h21', 'a.test/h31', 'b.test/h31'],
      e: ['a.test/h21', 'b.test/h31', 'c.test/h31'],
    };
    expect(await before()).toEqual(forced);
    expect(await before({ pages: ['c'] })).toEqual({ c: forced.c });

    const disturbed = { ...named('e', 'natural', 1), disturbed: true };
    await writeFolder(dir, [...loads, named('b', 'natural', 7), named('d', 'natural', 3), disturbed], {
      pages,
    });
    expect(await before()).toMatchObject({
      a: ['b.test/natural7', 'd.test/natural3'],
      b: ['d.test/natural3'],
      c: ['d.test/natural3', 'b.test/natural7'],
    });
  });

  it('knows how servers send that differ from usual ones', async () => {
    await writeFolder(dir, wholeCell());
    expect((await readCells(dir)).cells[0]!.sending).toBeUndefined();
    const file = join(dir, 'matrix.json');
    const matrix = JSON.parse(await readFile(file, 'utf8'));
    const own = { congestionControl: 'bbr', initialWindow: 20 };
    await writeFile(
      file,
      JSON.stringify({ ...matrix, server: { ...matrix.server, ...own, stack: 'nginx-quiche' } }),
    );
    const [cell] = (await readCells(dir)).cells;
    expect(cell!.sending).toEqual({ tcp: own, quic: own });
    expect(serversOf(cell!.recorded[0]!.recording, cell!.sending)).toEqual([
      { origin: 'https://www.page.test', tcp: own, quic: own },
      { origin: 'https://img.page.test', tcp: own, quic: own },
    ]);
    expect(serversOf(cell!.recorded[0]!.recording, undefined)).toEqual([]);
  });

  it('uses h2 loads where no natural load was recorded, and no load without requests', async () => {
    const slimmed = loadOf('natural', 1, 400);
    if (slimmed.outcome.ok) slimmed.outcome.recording = { ...page, requests: [] };
    await writeFolder(dir, [...wholeCell().filter(({ protocol }) => protocol !== 'natural'), slimmed]);
    const [cell] = (await readCells(dir)).cells;
    expect(cell!.recordedUnder).toBe('h2');
    expect(cell!.recorded.map(({ seed, judgingSeeds }) => [seed, judgingSeeds])).toEqual([
      [1, [2, 3]],
      [2, [1, 3]],
      [3, [1, 2]],
    ]);
    expect(cell!.loads.pltMs.get('natural')!.size).toBe(1);
  });

  it('keeps loads of different assignments apart', async () => {
    const assigned = (seed: number, protocol: 'h1' | 'h3') =>
      loadOf('assigned', seed, 300, { assignment: { 'https://www.page.test': protocol } });
    await writeFolder(dir, [...wholeCell(), assigned(1, 'h1'), assigned(2, 'h3'), assigned(3, 'h3')]);
    const [cell] = (await readCells(dir)).cells;
    expect(cell!.loads.assigned.map(({ pltMs }) => pltMs.size)).toEqual([1, 2]);
  });

  it('reads only the requested pages and networks', async () => {
    await writeFolder(dir, wholeCell());
    await expect(readCells(dir, { pages: ['other'] })).rejects.toThrow(
      '--pages "other": expected some of page',
    );
    await expect(readCells(dir, { networks: ['other'] })).rejects.toThrow(
      '--networks "other": expected some of net',
    );
    expect((await readCells(dir, { pages: ['page'], networks: ['net'] })).cells).toHaveLength(1);
  });
});

describe('unusable input gets one line and exit code 2', () => {
  const message = async (): Promise<string> => {
    const error = await readCells(dir).then(
      () => new Error('it was read'),
      (reason) => reason,
    );
    expect(error).toMatchObject({ name: 'UserError', exitCode: 2 });
    expect(error.message).not.toContain('\n');
    return error.message;
  };

  it('a folder without a matrix', async () => {
    expect(await message()).toBe(`${dir}: expected a folder with a matrix.json of npm run lab`);
  });

  it('a folder without loads', async () => {
    await writeFolder(dir, []);
    expect(await message()).toBe(`${dir}: holds no loads yet`);
  });

  it('one protocol only', async () => {
    await writeFolder(
      dir,
      wholeCell().filter(({ protocol }) => protocol === 'h2'),
    );
    expect(await message()).toContain('no page has loads of one seed under two protocols');
  });

  it('a load of a network that is not in the matrix', async () => {
    await writeFolder(dir, [...wholeCell(), loadOf('h1', 1, 1, { network: 'elsewhere' })]);
    expect(await message()).toContain('page on elsewhere');
  });

  it('a network that the lab would refuse', async () => {
    await writeFolder(dir, wholeCell());
    const file = join(dir, 'matrix.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"rttMs":40', '"rttMs":"x"'));
    expect(await message()).toContain('matrix.json: networks.net.network.rttMs: ');
  });

  it('an invalid recording', async () => {
    const load = loadOf('natural', 4, 400);
    if (load.outcome.ok) load.outcome.recording = { ...page, requests: [{ id: 0 }] } as never;
    await writeFolder(dir, [...wholeCell(), load]);
    expect(await message()).toContain('page on net, natural, seed 4: recording: requests[0].url');
  });

  it('a file of another format', async () => {
    await writeFolder(dir, wholeCell());
    await writeFile(join(dir, 'loads', 'x--y.jsonl.gz'), 'plain');
    expect(await message()).toContain('x--y.jsonl.gz');
  });
});
