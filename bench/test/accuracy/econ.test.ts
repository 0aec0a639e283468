import type { NetworkPath } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { page } from '../../../lab/test/support/measured-loads.ts';
import { pathOf } from '../../../pageload-emulator/test/support/pages.ts';
import { choiceOf } from '../../src/accuracy/choosers.ts';
import { econGuess } from '../../src/accuracy/econ.ts';

const path = pathOf({ rttMs: 40, downBps: 20e6, upBps: 5e6, queueBytes: 250_000 });

it('predicts h1 and h2, and chooses the faster one whatever h3 would take', () => {
  const guess = econGuess(page, path);
  expect(Object.keys(guess.pltMs)).toEqual(['h1', 'h2']);
  const faster = guess.pltMs.h1! < guess.pltMs.h2! ? 'h1' : 'h2';
  expect(choiceOf(guess, ['h1', 'h2', 'h3'])).toBe(faster);
  expect(guess).not.toHaveProperty('stated');
});

it('goes by the given network, where bursts of losses are one event each', () => {
  const h2 = (changed: Partial<NetworkPath>) => econGuess(page, { ...path, ...changed }).pltMs.h2!;
  expect(h2({ rttMs: 100 })).toBeGreaterThan(1.9 * h2({}));
  expect(h2({ loss: 0.2, lossBurst: 1 })).toBeGreaterThan(h2({}));
  expect(h2({ loss: 0.2, lossBurst: 4 })).toBe(h2({ loss: 0.05, lossBurst: 1 }));
  expect(h2({ udp: { kind: 'blocked' } })).toBe(h2({}));
});
