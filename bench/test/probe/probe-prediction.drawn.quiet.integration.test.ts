import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verification } from '@hopwise/contract';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { openPage } from '@hopwise/lab/pages/page-source';
import { measuredBy, type Prediction, predict } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureUntil } from '../../../lab/test/support/attempts.ts';
import { ProbeLab } from '../../src/udp/probe-lab.ts';

let folder: string;
let lab: ProbeLab;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-probe-'));
  const page = await openPage('web-p25');
  lab = await ProbeLab.up(
    page,
    networkOf(profileNamed('udp-policed'), 1),
    folder,
    new AbortController().signal,
  );
});

afterAll(async () => {
  await lab?.down();
  await rm(folder, { recursive: true, force: true });
});

it('is right about HTTP/3 after a probe where UDP is policed, which a load over HTTP/2 does not show', async () => {
  const { recording, pltMs } = await lab.load('h2');
  const before = predict(recording);
  const h3 = ({ protocols }: Prediction) => (protocols.h3 as { pltMs: number }).pltMs;
  expect(before.best).toBe('h3');
  expect(h3(before)).toBeLessThan(1.2 * pltMs);

  const rateShare = ({ udp }: Verification) => udp.quicBps! / 2e6;
  const verification = await measureUntil(
    () => lab.probe(recording, { rounds: 1, budgetBytes: null }),
    (each) => rateShare(each) > 0.7,
  );
  expect(verification.udp.verdict).toBe('policed');
  // 2 Mbit/s, headers not included, and less by the pauses of a busy machine.
  expect(rateShare(verification)).toBeGreaterThan(0.7);
  expect(rateShare(verification)).toBeLessThan(1.1);

  const after = predict(recording, { measured: measuredBy(verification) });
  expect(after.network.source).toMatchObject({ rttMs: 'measured', loss: 'measured', udp: 'measured' });
  expect(after.best).not.toBe('h3');
  // Policed loads vary much, and upwards only: a timeout of the recovery more costs a second.
  const measured = [await lab.load('h3'), await lab.load('h3'), await lab.load('h3')];
  const least = Math.min(...measured.map((load) => load.pltMs));
  expect(h3(after) / least).toBeGreaterThan(0.4);
  expect(h3(after) / least).toBeLessThan(2);
});
