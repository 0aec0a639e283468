import type { NetworkPath, PageGraph, ServerProfile } from '@hopwise/pageload-emulator';
import { createRandom } from '../../src/util/random.ts';

export interface GeneratedPage {
  graph: PageGraph;
  servers: ServerProfile[];
}

/**
 * A random page: one origin carries most of it or all share it, scripts request more, servers are near or far.
 *
 * @param seed the same page for the same seed
 */
export function generatedPage(seed: number, origins: number, requests: number): GeneratedPage {
  const random = createRandom(seed * 7_919 + 1);
  const pick = (n: number) => Math.floor(random() * n);
  const share = random();
  const names = Array.from({ length: origins }, (_, index) => `https://origin${index}.test`);
  const activities: PageGraph['activities'] = [];
  for (let id = 0; id < requests; id++) {
    const origin = id < origins ? id : random() < share ? 0 : pick(origins);
    const parent = id === 0 ? null : random() < 0.5 ? 0 : pick(id);
    const urgency = id === 0 ? 0 : pick(5);
    // Log-normal, with a median of 6 kB and occasionally a megabyte.
    const size = Math.exp(8.7 + 1.4 * (random() + random() + random() + random() - 2) * 1.7);
    activities.push({
      kind: 'fetch',
      id,
      requestId: id,
      url: `${names[origin]}/${id}`,
      origin,
      type: id === 0 ? 'document' : urgency === 0 ? 'style' : urgency === 1 ? 'script' : 'image',
      requestBytes: 300 + pick(600),
      responseBytes: Math.min(2e6, Math.max(200, size)),
      blocksLoad: true,
      renderBlocking: urgency === 0,
      urgency,
      incremental: urgency > 2,
      after:
        parent === null
          ? []
          : [
              {
                activity: parent,
                kind: parent === 0 ? 'parser' : 'script',
                fraction: parent === 0 ? random() : 1,
                source: 'recorded',
              },
            ],
      delayMs: pick(20),
    });
  }
  const servers = names.map(
    (origin, index): ServerProfile => ({
      origin,
      extraRttMs: index === 0 ? 0 : pick(60),
      thinkMs: pick(30),
      tcp: { initialWindow: 10, congestionControl: 'cubic' },
      quic: { initialWindow: random() < 0.5 ? 32 : 10, congestionControl: random() < 0.7 ? 'reno' : 'cubic' },
      tlsVersion: '1.3',
      dnsMs: pick(20),
      offers: { h1: true, h2: true, h3: true },
    }),
  );
  return { graph: { url: `${names[0]}/`, origins: names, activities }, servers };
}

const network = (
  rttMs: number,
  downMbps: number,
  upMbps: number,
  loss: number,
  queueMs: number,
  udp: NetworkPath['udp'] = { kind: 'open' },
  lossBurst = 1,
): NetworkPath => ({
  rttMs,
  downBps: downMbps * 1e6,
  upBps: upMbps * 1e6,
  loss,
  lossBurst,
  queueBytes: (downMbps * 1e6 * queueMs) / 8000,
  udp,
});

/** Networks of different kinds. */
export const NETWORKS: Readonly<Record<string, NetworkPath>> = {
  fibre: network(10, 100, 50, 0, 50),
  cable: network(30, 40, 8, 0, 150),
  slow: network(150, 2, 0.75, 0, 300),
  lossy: network(60, 20, 5, 0.01, 100),
  bursty: network(40, 15, 5, 0.02, 100, { kind: 'open' }, 4),
  policed: network(40, 20, 5, 0, 100, { kind: 'policed', bps: 2e6 }),
};
