/** Pages that are reloaded again and again, each load learned from, as the extension does. */
import type { Decision, NetworkPath, Prediction, Protocol, Recording } from '@hopwise/contract';
import {
  learnForSite,
  type NetworkCluster,
  type PageGraph,
  poolForSite,
  predict,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const OPEN = pathOf({ rttMs: 28, downBps: 40e6 });
const POLICED: NetworkPath = { ...OPEN, udp: { kind: 'policed', bps: 2e6 } };
const NOTHING_ELSE = { sites: [], check: null };
const FIRST_MS = Date.parse('2026-11-20T12:00:00Z');
const BETWEEN_MS = 20_000;

/** The page's loads so far, and what they showed. */
class Reloads {
  readonly #graph: PageGraph;
  readonly #servers: ServerProfile[];
  readonly #pltMs: number[] = [];
  #network: NetworkCluster | null = null;
  #earlier: Decision | null = null;
  #count = 0;

  constructor(page: number) {
    this.#graph = randomPage(page);
    this.#servers = randomServers(this.#graph, page);
  }

  /** Loads the page once more, and returns the answer right after that. */
  load(path: NetworkPath, protocol: Protocol): Prediction {
    const recording = this.#record(path, protocol);
    const cluster = poolForSite(this.#network, NOTHING_ELSE);
    const loads = [{ under: 'browser' as const, pltMs: [...this.#pltMs], ageMs: BETWEEN_MS }];
    const answer = predict(recording, { cluster, knowledge: { loads, earlier: this.#earlier } });
    this.#network = learnForSite(this.#network, NOTHING_ELSE, recording).cluster;
    this.#earlier = answer.decision;
    // First visits, which begin over HTTP/2, are told apart from later ones.
    if (protocol === 'h3') this.#pltMs.push(recording.pltMs!);
    return answer;
  }

  #record(path: NetworkPath, protocol: Protocol): Recording {
    const assignment = Object.fromEntries(this.#graph.origins.map((origin) => [origin, protocol]));
    const load = recordLoad(this.#graph, path, this.#servers, assignment, ++this.#count);
    const requests = load.requests.map((request) => ({ ...request, offersH3: true, remoteIp: '192.0.2.1' }));
    const recordedAt = new Date(FIRST_MS + this.#count * BETWEEN_MS).toISOString();
    return { ...load, requests, recordedAt };
  }
}

it.each(drawShare([1, 2], 1))(
  'where UDP is held back, reloads over HTTP/3 keep the answer: page %d',
  (page) => {
    const reloads = new Reloads(page);
    expect(reloads.load(POLICED, 'h2').decision.action.kind).toBe('leave');
    for (let reload = 1; reload <= 5; reload++) {
      const { decision, network } = reloads.load(POLICED, 'h3');
      expect(network.udp, `reload ${reload}`).toBeTypeOf('number');
      expect(decision.action.kind, `reload ${reload}: ${decision.verdict}`).toBe('avoid-h3');
    }
    // A load over another protocol is no other network, and does not show what happens to UDP.
    expect(reloads.load(POLICED, 'h2').network.udp).toBeTypeOf('number');
    // Fast loads over HTTP/3 do.
    reloads.load(OPEN, 'h3');
    expect(reloads.load(OPEN, 'h3').network.udp).toBe('open');
  },
);
