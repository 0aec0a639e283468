import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ModelDescription } from '../../src/trees/model-description.ts';
import { TransportTrees } from '../../src/trees/transport-trees.ts';

const ROW = Float32Array.from([0.01, 40, 100, 50, 50, 1, 80]);
const description = (uses: ModelDescription['uses']): ModelDescription => ({
  format: 1,
  features: [],
  sha256: '',
  uses,
});
const TREES = { tcp: 'trees', quic: 'trees' } as const;

let warnings: string[] = [];
let started = 0;
let ended = 0;
let fault: string | null = null;

beforeEach(() => {
  vi.useFakeTimers();
  warnings = [];
  started = 0;
  ended = 0;
  fault = null;
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void warnings.push(line));
});
afterEach(() => vi.useRealTimers());

const treesThat = (uses: ModelDescription['uses']): TransportTrees =>
  new TransportTrees(
    async () => {
      started++;
      return {
        predict: async ([, rttMs]) => {
          if (fault !== null) throw new Error(fault);
          return rttMs! / 100;
        },
        end: async () => void ended++,
      };
    },
    async () => description(uses),
  );

test('they start with the first question, and give their memory back a minute after the last', async () => {
  const trees = treesThat(TREES);
  expect(started).toBe(0);
  expect(await trees.predict(ROW, 'tcp')).toBeCloseTo(0.4, 6);
  await trees.predict(ROW, 'quic');
  expect([started, ended]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(ended).toBe(1);
  await trees.predict(ROW, 'tcp');
  expect(started).toBe(2);
});

test('they end when they are released, and once', async () => {
  const trees = treesThat(TREES);
  await trees.release();
  expect(ended).toBe(0);
  await trees.predict(ROW, 'tcp');
  await trees.release();
  await trees.release();
  expect(ended).toBe(1);
});

test('nothing starts where the rule decides, or without features', async () => {
  const trees = treesThat({ tcp: 'rule', quic: 'trees' });
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  expect(await trees.predict(new Float32Array(7).fill(Number.NaN), 'quic')).toBeNull();
  expect(started).toBe(0);
  expect(await trees.predict(ROW, 'quic')).not.toBeNull();
});

test('trees that fail are given up in one line, and the rule goes on', async () => {
  const trees = treesThat(TREES);
  fault = 'no WebAssembly';
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  fault = null;
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  expect(warnings).toEqual([
    'hopwise: the rule chooses between TCP and QUIC, as the trees do not run: no WebAssembly',
  ]);
  expect([started, ended]).toEqual([1, 1]);
});

test('a package without a model, or with one of another version, is the same', async () => {
  const trees = new TransportTrees(
    async () => expect.fail('nothing is to start'),
    async () => {
      throw new Error('transport.json: format: expected 1');
    },
  );
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('transport.json: format');
});

test('one that never answers is given up, too', async () => {
  const end = vi.fn(async () => undefined);
  const trees = new TransportTrees(
    async () => ({ predict: () => new Promise(() => undefined), end }),
    async () => description(TREES),
  );
  const answer = trees.predict(ROW, 'tcp');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await answer).toBeNull();
  expect(await trees.predict(ROW, 'tcp')).toBeNull();
  expect(warnings).toEqual([expect.stringContaining('no answer in 10 s')]);
  expect(end).toHaveBeenCalledOnce();
});
