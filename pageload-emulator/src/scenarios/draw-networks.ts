import type { NetworkPath, ServerProfile, UdpTreatment } from '@hopwise/contract';
import { queueBytesOf } from '../estimate/build-posterior.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import { LOSS_BURSTS } from '../network/priors.ts';
import { createRandom, hashSeed, normal } from '../util/random.ts';

/** A network and servers that what is known allows, with one draw of the losses. */
export interface NetworkSample {
  path: NetworkPath;
  servers: readonly ServerProfile[];
  /** Of the losses. */
  seed: number;
}

/** More of all packets are not lost on a path that loads pages, nor more in bursts; assumed. */
const MAX_LOSS = 0.15;
const MAX_LOSS_IN_BURSTS = 0.05;
/** Standard deviation of the logarithm of a server's think time, and of its round trip beyond the path's. */
const THINK_SPREAD = 0.3;
const EXTRA_RTT_SPREAD = 0.1;

/**
 * Draws networks from a posterior: equally likely ones, spread evenly over what is possible (a Kronecker sequence of
 * Roberts' generalised golden ratio, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018). The first is the
 * likeliest; a longer list begins with the shorter one. Where nothing is uncertain nor random there is one.
 *
 * UDP is policed in as many of them as it is likely to be, to the nearest. It is never blocked in them: `udp.blocked` says how likely that is.
 */
export function drawNetworks(posterior: NetworkPosterior, count: number): NetworkSample[] {
  const { path, servers } = posterior;
  const samples: NetworkSample[] = [{ path, servers, seed: 1 }];
  if (isCertain(posterior)) return path.loss === 0 ? samples : moreSeeds(samples[0]!, count);
  for (let seed = 2; seed <= count; seed++) samples.push(drawOne(posterior, seed));
  return samples;
}

/** What is drawn, each from a dimension of its own. */
const DIMENSIONS = 7;
const STEPS = kroneckerSteps(DIMENSIONS);

function drawOne(posterior: NetworkPosterior, seed: number): NetworkSample {
  const { given, densities, path, udp: shares } = posterior;
  const share = (dimension: number) => (0.5 + seed * STEPS[dimension]!) % 1;
  const udp = drawUdp(posterior, seed, share(0));
  const isPoliced = shares.policed > 0 && udp.kind === 'policed';
  const downDensity = isPoliced ? densities.downBpsPoliced : densities.downBps;
  const downBps = given.downBps ?? downDensity.quantile(share(1));
  const events = densities.loss.quantile(share(3));
  const lossBurst = given.lossBurst ?? burstAt(share(2), given.loss === undefined ? events : 0);
  const loss = given.loss ?? Math.min(MAX_LOSS, lossBurst * events);
  // The upstream rate was told by handshakes on the likeliest link, or believed to be a share of it.
  const upBps = given.upBps ?? densities.upBps.quantile(share(4));
  return {
    path: {
      rttMs: given.rttMs ?? densities.rttMs.quantile(share(5)),
      downBps,
      upBps,
      loss,
      lossBurst,
      queueBytes: given.queueBytes ?? queueBytesOf(densities.queueMs.quantile(share(6)), downBps),
      udp: given.udp ?? (isPoliced ? udp : path.udp.kind === 'policed' ? udp : path.udp),
    },
    servers: drawServers(posterior.servers, seed),
    seed,
  };
}

function drawUdp({ udp, densities, path }: NetworkPosterior, seed: number, rate: number): UdpTreatment {
  if (path.udp.kind === 'blocked' || path.udp.kind === 'lossy') return path.udp;
  const policed = udp.policed / Math.max(udp.policed + udp.open, 1e-12);
  // Systematic: of the first so many networks as many are policed as is likely, to the nearest.
  const isPoliced = Math.round((seed - 1) * policed) > Math.round((seed - 2) * policed);
  return isPoliced ? { kind: 'policed', bps: densities.policedBps.quantile(rate) } : { kind: 'open' };
}

function drawServers(servers: readonly ServerProfile[], seed: number): ServerProfile[] {
  return servers.map((server, index) => {
    const random = createRandom(hashSeed(seed, index, 0x5e7e7));
    return {
      ...server,
      extraRttMs: server.extraRttMs * Math.exp(EXTRA_RTT_SPREAD * normal(random)),
      thinkMs: server.thinkMs * Math.exp(THINK_SPREAD * normal(random)),
    };
  });
}

/** @param events of loss per packet: where there are many, they are single losses */
function burstAt(share: number, events: number): number {
  let below = 0;
  for (const { packets, share: own } of LOSS_BURSTS) {
    below += own;
    if (share < below) return packets * events <= MAX_LOSS_IN_BURSTS ? packets : 1;
  }
  return 1;
}

/** Whether every figure of the path is given; servers then stay as the recording shows them. */
function isCertain({ sources }: NetworkPosterior): boolean {
  return Object.entries(sources).every(([figure, source]) => figure === 'lossBurst' || source === 'given');
}

function moreSeeds(sample: NetworkSample, count: number): NetworkSample[] {
  return Array.from({ length: Math.max(1, count) }, (_, index) => ({ ...sample, seed: index + 1 }));
}

/** Powers of the inverse of the root above 1 of x^(d+1) = x + 1. */
function kroneckerSteps(dimensions: number): number[] {
  let root = 1.5;
  for (let step = 0; step < 40; step++) root = (1 + root) ** (1 / (dimensions + 1));
  return Array.from({ length: dimensions }, (_, index) => root ** -(index + 1) % 1);
}
