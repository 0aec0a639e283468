/**
 * Pages that were hard-reloaded over HTTP/3 in Chromium after a first visit, on the lab's network `udp-policed`:
 * `npm run lab -- --pages app,shop,web-p25,web-7,web-12 --networks udp-policed --protocols natural,h3 --seeds 5 --quiet-limit 1`, on a busy
 * machine, the first natural load and the loads over HTTP/3 of each. Real loads stall in ways that emulated ones do not.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Decision, Recording } from '@hopwise/contract';
import {
  learnForSite,
  type NetworkCluster,
  parseRecording,
  poolForSite,
  predict,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';

const NOTHING_ELSE = { sites: [], check: null };
const FIRST_MS = Date.parse('2026-11-20T12:00:00Z');
const BETWEEN_MS = 20_000;

/** A page's loads: the first visit, then the reloads. */
function loadsOf(page: string): Recording[] {
  const content = readFileSync(new URL(`hard-reloads/${page}.jsonl.gz`, import.meta.url));
  const lines = gunzipSync(content).toString().trim().split('\n');
  return lines.map((line, index) => ({
    ...parseRecording(line),
    recordedAt: new Date(FIRST_MS + index * BETWEEN_MS).toISOString(),
  }));
}

describe('where UDP is held to 2 Mbit/s, recorded reloads over HTTP/3', () => {
  it.each(drawShare(['app', 'shop', 'web-p25', 'web-7', 'web-12'], 1))('keep the answer: %s', (page) => {
    const [first, ...reloads] = loadsOf(page);
    expect(reloads).toHaveLength(5);
    let network: NetworkCluster = learnForSite(null, NOTHING_ELSE, first!).cluster;
    let earlier: Decision = predict(first!).decision;
    const pltMs: number[] = [];
    for (const [index, recording] of reloads.entries()) {
      const cluster = poolForSite(network, NOTHING_ELSE);
      const loads = [{ under: 'browser' as const, pltMs: [...pltMs], ageMs: BETWEEN_MS }];
      const answer = predict(recording, { cluster, knowledge: { loads, earlier } });
      const at = `reload ${index + 1}: ${answer.decision.verdict}`;
      expect(answer.network.udp, at).toBeTypeOf('number');
      expect(answer.network.udpShares.policed, at).toBeGreaterThan(0.9);
      expect(answer.decision.action.kind, at).toBe('avoid-h3');
      network = learnForSite(network, NOTHING_ELSE, recording).cluster;
      earlier = answer.decision;
      pltMs.push(recording.pltMs!);
    }
  });
});
