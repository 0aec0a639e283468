import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { measureUntil } from '../support/attempts.ts';
import { FAR, FAR_MS, MAIN, writeTinySite } from '../support/lab-site.ts';
import { check, LINK } from '../support/lab-transfers.ts';

const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the lab's integration tests: ${obstacle}`);

/** Tolerance of a round trip, in ms. */
const RTT_TOLERANCE_MS = 0.5;

/** Takes the minimum of many, repeatedly if needed: on a busy machine packets can be late, but never early. */
async function smallestRtt(lab: Lab, url: string, wantedMs: number): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10 && smallest >= wantedMs + RTT_TOLERANCE_MS; round++) {
    const connections = await check(lab, '--connects', '15', url);
    smallest = Math.min(smallest, ...connections.map(({ rttMs = Number.NaN }) => rttMs));
  }
  return smallest;
}

describe.skipIf(obstacle)('the lab, while nothing else runs', () => {
  let site: string;
  let lab: Lab;

  beforeAll(async () => {
    site = await writeTinySite();
    lab = await Lab.up({ site, network: LINK });
  });

  afterAll(async () => {
    await lab?.down();
    await rm(site, { recursive: true, force: true });
  });

  test.each([0, 10, 100])('has a round trip of %i ms within 0.5 ms', async (rttMs) => {
    await lab.configure({ ...LINK, rttMs });
    const rtt = await smallestRtt(lab, `${MAIN}/`, rttMs);
    expect(rtt).toBeGreaterThanOrEqual(rttMs);
    expect(rtt).toBeLessThan(rttMs + RTT_TOLERANCE_MS);
  });

  test('adds the extra round-trip time of a server', async () => {
    await lab.configure({ ...LINK, rttMs: 20 });
    const rttMs = 20 + FAR_MS;
    expect(Math.abs((await smallestRtt(lab, `${FAR}/`, rttMs)) - rttMs)).toBeLessThan(RTT_TOLERANCE_MS);
  });

  test.each([
    [1, 4e5],
    [8, 1e6],
    [30, 3e6],
    [100, 12e6],
  ])('delivers %i Mbit/s within 1%%', async (downMbps, bytes) => {
    await lab.configure({ ...LINK, rttMs: 10, downMbps, upMbps: 100 });
    // A stall of the machine makes a transfer slower, never the link faster.
    const off = await measureUntil(
      async () => {
        const [transfer] = await check(lab, '--protocol', 'h1', `${MAIN}/bytes?${bytes}`);
        expect(transfer).toMatchObject({ status: 200, bytes, protocol: 'h1' });
        return Math.abs(transfer!.linkBitsPerSecond / 1e6 / downMbps - 1);
      },
      (relative) => relative < 0.01,
      8,
    );
    expect(off).toBeLessThan(0.01);
  });

  test('serves another site of the same origins, and refuses unknown ones', async () => {
    const other = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-site-'));
    try {
      await cp(site, other, { recursive: true });
      const content = JSON.parse(await readFile(join(site, 'site.json'), 'utf8'));
      content.resources.push({
        origin: MAIN,
        path: '/new',
        status: 200,
        headers: {},
        body: { filler: 'bytes', bytes: 5 },
        thinkMs: 0,
      });
      content.origins[1].extraRttMs = 0;
      await writeFile(join(other, 'site.json'), JSON.stringify(content));
      await lab.serve(other);
      expect((await check(lab, `${MAIN}/new`))[0]).toMatchObject({ status: 200, bytes: 5 });
      expect(await smallestRtt(lab, `${FAR}/`, LINK.rttMs)).toBeLessThan(LINK.rttMs + RTT_TOLERANCE_MS);

      content.origins.push({ origin: 'https://else.lab.test', protocols: ['h1'], extraRttMs: 0 });
      await writeFile(join(other, 'site.json'), JSON.stringify(content));
      await expect(lab.serve(other)).rejects.toThrow(
        /origins\[3\]: expected an origin that the lab was started with, got https:\/\/else\.lab\.test$/,
      );
      expect((await check(lab, `${MAIN}/new`))[0]).toMatchObject({ status: 200 });
    } finally {
      await lab.serve(site);
      await rm(other, { recursive: true, force: true });
    }
  });

  test('carries IPv6', async () => {
    const lab6 = await Lab.up({ site, network: LINK, ipVersion: 6 });
    try {
      for (const protocol of ['h2', 'h3']) {
        expect((await check(lab6, '--protocol', protocol, `${FAR}/image.png?n=0`))[0]).toMatchObject({
          protocol,
          status: 200,
        });
      }
      const rttMs = LINK.rttMs + FAR_MS;
      expect(Math.abs((await smallestRtt(lab6, `${FAR}/`, rttMs)) - rttMs)).toBeLessThan(RTT_TOLERANCE_MS);
    } finally {
      await lab6.down();
    }
  });

  test('accepts another congestion control and initial window', async () => {
    const big = await Lab.up({
      site,
      network: LINK,
      server: { congestionControl: 'reno', initialWindow: 40 },
    });
    try {
      const round = async (one: Lab) => {
        await one.configure({ ...LINK, rttMs: 300, downMbps: 100 });
        return (await check(one, '--protocol', 'h1', `${FAR}/image.png?n=0`, `${MAIN}/bytes?1000000`))[1]!
          .totalMs;
      };
      // Quadrupling the window saves two rounds of slow start.
      const least = { small: Number.POSITIVE_INFINITY, big: Number.POSITIVE_INFINITY };
      const savedMs = await measureUntil(
        async () => {
          least.small = Math.min(least.small, await round(lab));
          least.big = Math.min(least.big, await round(big));
          return least.small - least.big;
        },
        (saved) => saved > 400,
      );
      expect(savedMs).toBeGreaterThan(400);
    } finally {
      await big.down();
    }
  });
});
