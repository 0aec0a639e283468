import { MINUTE_MS } from '@hopwise/contract';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  doubtNetworkKey,
  forgetNetworkKey,
  recogniseNetwork,
} from '../../src/background/recognise-network.ts';
import { readNetworkKey } from '../../src/storage/network-key.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const HOME = 'h'.repeat(22);
const TRAIN = 't'.repeat(22);

/** What the helper answers. */
let answer: () => Promise<string | null>;
let asked: number;
let nowMs: number;
/** Whether the helper runs in any case. */
let isRunning: boolean;

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
  asked = 0;
  nowMs = 0;
  isRunning = false;
});

/** A load after some minutes. @returns whether it shows that a network was left */
function load(minutes: number): Promise<boolean> {
  nowMs += minutes * MINUTE_MS;
  const ask = () => {
    asked += 1;
    return answer();
  };
  return recogniseNetwork(ask, isRunning, () => nowMs);
}

test('while pages are loaded the helper is asked every hour, and at once when the network has changed', async () => {
  answer = async () => HOME;
  await Promise.all([load(0), load(0)]);
  for (let times = 0; times < 6; times++) await load(9);
  expect([asked, await readNetworkKey()]).toEqual([1, HOME]);
  expect(await load(7)).toBe(false);
  expect(asked).toBe(2);
  await forgetNetworkKey();
  expect(await readNetworkKey()).toBeNull();
  await load(0);
  expect([asked, await readNetworkKey()]).toEqual([3, HOME]);
});

test('it is asked after a pause of ten minutes, and where it runs in any case', async () => {
  answer = async () => HOME;
  await load(0);
  await load(11);
  expect(asked).toBe(2);
  isRunning = true;
  await load(11);
  expect(asked).toBe(3);
  await load(6);
  await load(6);
  expect(asked).toBe(4);
});

test('it is asked once the clock was set back, and an hour later', async () => {
  answer = async () => HOME;
  await load(600);
  await load(-300);
  expect(asked).toBe(2);
  for (let times = 0; times < 7; times++) await load(9);
  expect(asked).toBe(3);
});

test('it is asked with the next load after one that was not like those before', async () => {
  answer = async () => HOME;
  await load(0);
  await doubtNetworkKey();
  expect(await readNetworkKey()).toBe(HOME);
  answer = async () => TRAIN;
  expect(await load(1)).toBe(true);
  expect([asked, await readNetworkKey()]).toEqual([2, TRAIN]);
});

test('where no network is recognised, a pause changes nothing', async () => {
  answer = async () => null;
  await load(0);
  await load(1);
  expect(asked).toBe(2);
  await load(30);
  expect(asked).toBe(2);
});

test('another key shows that the network was left, although the browser did not report it', async () => {
  answer = async () => HOME;
  expect(await load(0)).toBe(false);
  answer = async () => TRAIN;
  expect(await load(11)).toBe(true);
  answer = async () => null;
  expect(await load(11)).toBe(true);
  expect(await readNetworkKey()).toBeNull();
  answer = async () => HOME;
  expect(await load(1)).toBe(false);
  expect(await readNetworkKey()).toBe(HOME);
});

test('a helper that does not answer is asked again after an hour; until then the network is taken for the same', async () => {
  answer = async () => HOME;
  await load(0);
  answer = async () => {
    throw new Error('The helper is not installed.');
  };
  expect(await load(11)).toBe(false);
  expect(await readNetworkKey()).toBe(HOME);
  await forgetNetworkKey();
  expect(await load(0)).toBe(false);
  expect(await readNetworkKey()).toBeNull();
  await load(59);
  expect(asked).toBe(3);
  await load(2);
  expect(asked).toBe(4);
});

test('a key that was not stored by this version is asked for again', async () => {
  await chrome.storage.session.set({ 'network-key': { key: 'short', askAgainAtMs: 1e15 } });
  answer = async () => HOME;
  await load(0);
  expect(await readNetworkKey()).toBe(HOME);
});
