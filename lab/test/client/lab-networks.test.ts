import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { goVersion } from '../../src/client/build.ts';
import {
  checkNetwork,
  networkOf,
  profileNamed,
  readProfiles,
  toNetworkPath,
  unmodelled,
} from '../../src/client/networks.ts';
import { makeScratch } from '../../src/command/scratch.ts';

const profiles = readProfiles();

test('has the profiles that commands and documents name', () => {
  expect(Object.keys(profiles)).toEqual(
    expect.arrayContaining(['fast', 'cable', 'dsl', 'lte', 'lte-poor', '3g', 'satellite', 'slow', 'lossy']),
  );
  expect(Object.keys(profiles)).toEqual(
    expect.arrayContaining(['wifi-bursty', 'udp-policed', 'udp-blocked']),
  );
});

test.each(Object.entries(profiles))('%s says where each of its figures comes from', (_name, profile) => {
  const figures = ['rttMs', 'downMbps', 'upMbps', 'loss', 'queue'];
  if (profile.lossBurst > 1) figures.push('lossBurst');
  if (profile.udp !== 'open') figures.push('udp');
  expect(Object.keys(profile.source).sort()).toEqual(figures.sort());
  expect(checkNetwork(networkOf(profile, 1))).toMatchObject({ seed: 1, rttMs: profile.rttMs });
});

test('lists the known profiles for an unknown name', () => {
  expect(() => profileNamed('5g')).toThrow(/^network "5g": expected one of fast, cable, /);
  expect(() => profileNamed('constructor')).toThrow(/^network "constructor": expected one of /);
});

test('names file and entry of a broken profile', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hopwise-networks-'));
  const file = join(dir, 'networks.json');
  try {
    writeFileSync(file, JSON.stringify({ fast: { ...profiles.fast, loss: 2 } }));
    expect(() => readProfiles(file)).toThrow(`${file}: fast.loss: `);
    writeFileSync(file, '{"fast": ');
    expect(() => readProfiles(file)).toThrow(`${file}: `);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('puts a network into the emulator’s terms', () => {
  const network = networkOf(profileNamed('udp-policed'));
  expect(toNetworkPath(network)).toEqual({
    rttMs: 28,
    downBps: 40e6,
    upBps: 8e6,
    loss: 0,
    lossBurst: 1,
    // 40 Mbit/s for 150 ms.
    queueBytes: 750_000,
    udp: { kind: 'policed', bps: 2e6 },
  });
  expect(toNetworkPath({ ...network, queue: { bdp: 0.5 } }).queueBytes).toBe(70_000);
  expect(toNetworkPath({ ...network, queue: { bytes: 9 } }).queueBytes).toBe(9);
  expect(toNetworkPath({ ...network, udp: { policedMbps: 2, burstBytes: 9000 } }).udp).toEqual({
    kind: 'policed',
    bps: 2e6,
    burstBytes: 9000,
  });
  expect(toNetworkPath({ ...network, udp: 'open', udpLoss: 0.1 }).udp).toEqual({ kind: 'lossy', loss: 0.1 });
});

test('names what the emulator’s terms leave out', () => {
  for (const profile of Object.values(profiles)) expect(unmodelled(networkOf(profile))).toEqual([]);
  const network = networkOf(profileNamed('cable'));
  expect(
    unmodelled({
      ...network,
      jitterMs: 5,
      reorder: { rate: 0.01, delayMs: 20 },
      udpLoss: 0.1,
      udp: { policedMbps: 2, burstBytes: 9000 },
    }),
  ).toEqual(['jitterMs', 'reorder', 'udpLoss']);
  expect(unmodelled({ ...network, udpLoss: 0.1 })).toEqual([]);
  expect(unmodelled({ ...network, jitterMs: 0, udpLoss: 0, reorder: { rate: 0, delayMs: 20 } })).toEqual([]);
});

test('reports a missing or too old Go in one line', async () => {
  await expect(goVersion('no-such-go')).rejects.toThrow(
    /^Go cannot be run \(not found\): install Go 1\.25 or later/,
  );
  const dir = mkdtempSync(join(tmpdir(), 'hopwise-go-'));
  const go = join(dir, 'go');
  try {
    writeFileSync(go, '#!/bin/sh\necho go1.19.8\n', { mode: 0o755 });
    await expect(goVersion(go)).rejects.toThrow(/^Go is too old \(go1\.19\.8\): install Go 1\.25 or later/);
    writeFileSync(go, '#!/bin/sh\necho go1.25\n', { mode: 0o755 });
    expect(await goVersion(go)).toBe('go1.25');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('removes only scratch folders of processes that have ended', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'hopwise-scratch-'));
  try {
    // Process ids are far lower.
    for (const name of [
      'hopwise-lab-999999999-abcDEF',
      'hopwise-run-999999999-abcDEF',
      `hopwise-lab-${process.pid}-abcDEF`,
      'hopwise-lab-mine',
    ]) {
      mkdirSync(join(parent, name));
    }
    const made = await makeScratch('run', parent);
    expect(
      readdirSync(parent)
        .map((name) => join(parent, name))
        .sort(),
    ).toEqual(
      [join(parent, `hopwise-lab-${process.pid}-abcDEF`), join(parent, 'hopwise-lab-mine'), made].sort(),
    );
  } finally {
    rmSync(parent, { recursive: true });
  }
});
