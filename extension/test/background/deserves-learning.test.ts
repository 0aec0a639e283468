import { learnNetwork, type NetworkCluster, poolClusters } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { deservesLearning } from '../../src/background/deserves-learning.ts';
import { addLoad } from '../../src/storage/loads.ts';
import { loadOf, waiting } from '../evidence/stored-loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const load = { ...loadOf(1), isDetailed: false };
const { recording } = load;
const recordedMs = Date.parse(recording.recordedAt);
const known: NetworkCluster = {
  ...learnNetwork(null, recording),
  loads: 9,
  updatedAtMs: recordedMs - 60_000,
  udp: { open: 0.99, policed: 0.01, blocked: 0 },
};

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

test('the first loads on a network are learned, later ones that tell nothing new are not', async () => {
  expect(await deservesLearning(null, load)).toBe(true);
  expect(await deservesLearning({ ...known, loads: 1 }, load)).toBe(true);
  expect(await deservesLearning({ ...known, loads: 2 }, load)).toBe(false);
  expect(await deservesLearning(known, load)).toBe(false);
});

test('each load that is recorded in detail is learned', async () => {
  expect(await deservesLearning(known, { ...load, isDetailed: true })).toBe(true);
});

test('what was learned long ago is renewed', async () => {
  const old = { ...known, updatedAtMs: recordedMs - 2 * 3_600_000 };
  expect(await deservesLearning(old, load)).toBe(true);
});

test('a response over HTTP/3 is learned while it is open how the network treats UDP', async () => {
  const [first, ...others] = recording.requests;
  const overH3 = { ...first!, protocol: 'h3' as const, bodyBytes: 100_000 };
  const withH3 = { ...load, recording: { ...recording, requests: [overH3, ...others] } };
  const unsure = { ...known, udp: { open: 0.6, policed: 0.3, blocked: 0.1 } };
  expect(await deservesLearning(known, withH3)).toBe(false);
  expect(await deservesLearning(unsure, withH3)).toBe(true);
  expect(await deservesLearning(unsure, load)).toBe(false);
  // It may have been hindered for some time only.
  const hindered = { ...known, udp: { open: 0.01, policed: 0.99, blocked: 0 } };
  expect(await deservesLearning(hindered, withH3)).toBe(true);
  expect(await deservesLearning(hindered, load)).toBe(false);
  // The same again, as the last load of the page took, shows nothing new; what took less may.
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1);
  await addLoad({ ...fields, recording: { ...recording, pltMs: 9_000 } });
  const taking = (pltMs: number) => ({ ...withH3, recording: { ...withH3.recording, pltMs } });
  expect(await deservesLearning(hindered, taking(8_500))).toBe(false);
  expect(await deservesLearning(hindered, taking(3_000))).toBe(true);
  expect(await deservesLearning(hindered, taking(30_000))).toBe(true);
  expect(await deservesLearning(unsure, taking(8_500))).toBe(true);
  expect(await deservesLearning(hindered, { ...taking(8_500), networkKey: 'another' })).toBe(true);
  const pinned = { 'https://a.example': 'h2' as const };
  await addLoad({ ...fields, pinned, recording: { ...recording, pltMs: 9_000 } });
  expect(await deservesLearning(hindered, { ...taking(8_500), pinned })).toBe(true);
  // As others see a network of which one site alone has shown that it hinders UDP.
  const { udp } = poolClusters({ sites: [{ ...known, udp: { open: 0, policed: 1, blocked: 0 } }] })!;
  expect(udp.open).toBeGreaterThan(0.95);
  expect(await deservesLearning({ ...known, udp }, withH3)).toBe(true);
});

test('a load that was faster than its network can be is learned', async () => {
  const slow = { ...known, downBps: { mean: Math.log(10_000), spread: 0.1 } };
  expect(await deservesLearning(slow, load)).toBe(true);
});

test('a load with responses that waited less than the known round trip is learned, over HTTP/3 too', async () => {
  const beside = { ...known, rttMs: { mean: Math.log(120), spread: 0.1 } };
  for (const protocol of ['h2', 'h3'] as const) {
    const requests = waiting(30).map((request) => ({ ...request, protocol }));
    expect(await deservesLearning(beside, { ...load, recording: { ...recording, requests } })).toBe(true);
    // A single one may be a copy.
    const [first] = requests;
    const one = [first!, ...waiting(120).slice(1)];
    expect(await deservesLearning(beside, { ...load, recording: { ...recording, requests: one } })).toBe(
      false,
    );
  }
});

test('a load that was much slower than the last one of its page is learned', async () => {
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1);
  await addLoad({ ...fields, recording: { ...recording, pltMs: 1_200 } });
  const slower = { ...load, recording: { ...recording, pltMs: 2_000 } };
  expect(await deservesLearning(known, slower)).toBe(true);
  expect(await deservesLearning(known, { ...load, recording: { ...recording, pltMs: 1_300 } })).toBe(false);
});
