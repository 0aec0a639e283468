import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parsePcwnd, parsePcwndCounts } from '@hopwise/pageload-emulator/econ';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { networkOf, profileNamed } from '../../../lab/src/client/networks.ts';
import { pcwndCommand } from '../../src/pcwnd/command.ts';
import {
  difference,
  fileStem,
  findPcwnd,
  type PcwndFile,
  type PcwndSettings,
  pcwndCsv,
  writePcwnd,
} from '../../src/pcwnd/files.ts';

const SETTINGS: PcwndSettings = {
  name: 'lte-poor',
  network: networkOf(profileNamed('lte-poor'), 3),
  congestionControl: 'reno',
  connections: 6,
  seconds: 30,
  sampler: 'tcp_probe',
};

const FILE: PcwndFile = {
  format: 'hopwise-pcwnd',
  version: 1,
  at: '2026-11-20T12:00:00.000Z',
  settings: SETTINGS,
  sampler: 'tcp_probe',
  kernel: 'Linux 6.1.0',
  mss: 1448,
  seconds: 30.001,
  samples: 1000,
  lostSamples: 0,
  recoveries: 3,
  deliveredBytes: 1e6,
  windows: [
    { cwnd: 10, rounds: 40, packets: 390, lossEvents: 0 },
    { cwnd: 12, rounds: 4, packets: 48, lossEvents: 1 },
  ],
  down: { packets: 1000, drops: { queue: 0, loss: 3, device: 0 }, maxQueueBytes: 3000, latePackets: 0 },
  scheduling: 'fifo',
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-pcwnd-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('the files of a measurement', () => {
  test('are named like ECON’s, and readable by the emulator', async () => {
    await writePcwnd(dir, FILE);
    expect((await readdir(dir)).sort()).toEqual(['lte-poor_reno_npc6.csv.gz', 'lte-poor_reno_npc6.json']);
    expect(await findPcwnd(dir, SETTINGS)).toEqual({ kind: 'whole', file: FILE });
    // One of four rounds of 12 packets each lost: 1 event in 48 packets.
    expect(parsePcwnd(pcwndCsv(FILE.windows))).toEqual([
      { cwnd: 10, p: 0 },
      { cwnd: 12, p: 1 / 48 },
    ]);
    expect(parsePcwndCounts(JSON.stringify(FILE))).toEqual([
      { cwnd: 10, rounds: 40, packets: 390, lossEvents: 0 },
      { cwnd: 12, rounds: 4, packets: 48, lossEvents: 1 },
    ]);
  });

  test('do not count if the run was killed before writing the second', async () => {
    await writePcwnd(dir, FILE);
    await rename(join(dir, `${fileStem(SETTINGS)}.csv.gz`), join(dir, 'x.part'));
    expect(await findPcwnd(dir, SETTINGS)).toEqual({ kind: 'none' });
  });

  test.each([
    ['json', '{', 'lte-poor_reno_npc6.json: expected JSON'],
    ['json', '{"format":"hopwise-pcwnd","version":2}', 'lte-poor_reno_npc6.json: version: '],
    ['csv.gz', 'cwnd,p\n', 'lte-poor_reno_npc6.csv.gz: expected a whole gzip file'],
    ['csv.gz', gzipSync('cwnd,p\nx,0\n'), 'lte-poor_reno_npc6.csv.gz: line 2: expected a window'],
    ['csv.gz', gzipSync('cwnd,p\n10,0\n'), 'lte-poor_reno_npc6.csv.gz: expected what the counts'],
  ])('a damaged %s is reported in one line', async (ending, content, reason) => {
    await writePcwnd(dir, FILE);
    await writeFile(join(dir, `${fileStem(SETTINGS)}.${ending}`), content);
    const found = await findPcwnd(dir, SETTINGS);
    expect(found).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
    expect(found.kind === 'unreadable' && found.reason).not.toContain('\n');
  });

  test('a file without its counts is not a measurement', async () => {
    await writeFile(join(dir, `${fileStem(SETTINGS)}.csv.gz`), gzipSync('cwnd,p\n10,0.1\n'));
    expect((await findPcwnd(dir, SETTINGS)).kind).toBe('unreadable');
  });

  test('record their settings', () => {
    expect(difference(SETTINGS, SETTINGS)).toBeNull();
    expect(difference(SETTINGS, { ...SETTINGS, seconds: 60 })).toBe('seconds 30, not 60');
    const network = { ...SETTINGS.network, queue: { bdp: 2 } };
    expect(difference({ ...SETTINGS, network }, SETTINGS)).toBe('queue {"bdp":2}, not {"ms":400}');
  });
});

describe('the command line', () => {
  const run = (...args: string[]) =>
    pcwndCommand()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: 'user' });

  test.each([
    [['--out', 'DIR'], "required option '--network <list>'"],
    [['--network', 'dsl'], "required option '--out <dir>'"],
    [['--network', 'dsl,', '--out', 'DIR'], 'expected names separated by commas'],
    [['--network', 'dsl', '--out', 'DIR', '--cc', 'vegas'], 'expected some of cubic, reno, bbr'],
    [['--network', 'dsl', '--out', 'DIR', '--connections', '1,0'], 'expected whole numbers from 1 to 100'],
    [['--network', 'dsl', '--out', 'DIR', '--seconds', 'Infinity'], 'expected seconds from 1 to 86400'],
    [['--network', 'dsl', '--out', 'DIR', '--seed', '-1'], 'expected a whole number from 0'],
    [['--network', 'dsl', '--out', 'DIR', '--sampler', 'x'], 'Allowed choices are tcp_probe, tcp_info'],
  ])('refuses %j', async (args, message) => {
    const refused = run(...args.map((arg) => (arg === 'DIR' ? dir : arg)));
    await expect(refused).rejects.toThrow(CommanderError);
    await expect(refused).rejects.toThrow(message);
  });

  test('refuses an unknown network, and a folder that cannot be created', async () => {
    await expect(run('--network', 'dsl,moon', '--out', dir)).rejects.toMatchObject({
      message: expect.stringMatching(/^network "moon": expected one of /),
      exitCode: 2,
    });
    await writeFile(join(dir, 'file'), '');
    await expect(run('--network', 'dsl', '--out', join(dir, 'file/x'))).rejects.toMatchObject({
      exitCode: 2,
    });
  });

  test('keeps existing measurements, and refuses to overwrite those of other settings', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await writePcwnd(dir, FILE);
      const same = [
        '--network',
        'lte-poor',
        '--cc',
        'reno',
        '--connections',
        '6',
        '--seed',
        '3',
        '--out',
        dir,
      ];
      await run(...same, '--seconds', '30');
      expect(stderr.mock.calls.flat().join('')).toContain('1 of 1 exist already');
      await expect(run(...same, '--seconds', '31')).rejects.toMatchObject({
        message: expect.stringContaining('lte-poor_reno_npc6 was measured with seconds 30, not 31'),
        exitCode: 2,
      });
      expect(await readdir(dir)).toHaveLength(2);
    } finally {
      stderr.mockRestore();
    }
  });
});
