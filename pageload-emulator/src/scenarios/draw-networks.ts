import type { ServerProfile, UdpTreatment } from '@hopwise/contract';
import { queueBytesOf } from '../estimate/fit-recording.ts';
import type { NetworkPosterior, PathDensities } from '../estimate/network-posterior.ts';
import { createRandom, hashSeed, normal } from '../util/random.ts';
import type { Scenario } from './scenario.ts';

/** Upper bound of loss, as pages do not load on paths that lose more; and of loss in bursts. Assumed. */
const MAX_LOSS = 0.15;
const MAX_LOSS_IN_BURSTS = 0.05;
/** Standard deviation of the logarithm of a server's think time, and of its round trip beyond the path's. */
const THINK_SPREAD = 0.3;
const EXTRA_RTT_SPREAD = 0.1;

/**
 * Draws equally likely networks from a posterior, spread evenly over it (a Kronecker sequence of Roberts' generalised golden
 * ratio, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018). The first is the likeliest network; a longer list
 * begins with the shorter one. When every figure is given and the loss is 0 there is only one.
 *
 * The share of networks that police UDP is its probability, rounded. UDP is never blocked in them; that probability is
 * `posterior.udp.blocked`.
 *
 * @returns at most `count`
 */
export function drawNetworks(posterior: NetworkPosterior, count: number): Scenario[] {
  const { path, servers } = posterior;
  const samples: Scenario[] = [{ path, servers, seed: 1 }];
  if (isCertain(posterior)) return path.loss === 0 ? samples : moreSeeds(samples[0]!, count);
  for (let seed = 2; seed <= count; seed++) samples.push(drawOne(posterior, seed));
  return samples;
}

/** Returns drawn networks with a policer of UDP each, at rates that are spread evenly over the posterior. */
export function policeNetworks({ densities }: NetworkPosterior, drawn: readonly Scenario[]): Scenario[] {
  return drawn.map((scenario, index) => {
    const bps = densities.policedBps.quantile((index + 0.5) / drawn.length);
    return { ...scenario, path: { ...scenario.path, udp: { kind: 'policed', bps } } };
  });
}

/** Number of quantities drawn, each from a dimension of its own. */
const DIMENSIONS = 7;
const STEPS = kroneckerSteps(DIMENSIONS);

function drawOne(posterior: NetworkPosterior, seed: number): Scenario {
  const { given, densities, path, udp: shares } = posterior;
  const share = (dimension: number) => (0.5 + seed * STEPS[dimension]!) % 1;
  const udp = drawUdp(posterior, seed, share(0));
  const isPoliced = shares.policed > 0 && udp.kind === 'policed';
  const downDensity = isPoliced ? densities.downBpsPoliced : densities.downBps;
  const downBps = given.downBps ?? downDensity.quantile(share(1));
  const events = (isPoliced ? densities.lossPoliced : densities.loss).quantile(share(3));
  const lossBurst = given.lossBurst ?? burstAt(densities, share(2), given.loss === undefined ? events : 0);
  const loss = given.loss ?? Math.min(MAX_LOSS, lossBurst * events);
  // Drawn independently of `downBps`: the upstream density was inferred on the likeliest link.
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
  // Systematic sampling: among the first n networks, n times the probability are policed, rounded.
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

/** Draws the mean length of loss bursts, packets. @param events loss events per packet: at high rates losses are single */
function burstAt({ lossBurst }: PathDensities, share: number, events: number): number {
  return Math.min(lossBurst.midpoint(share), Math.max(1, MAX_LOSS_IN_BURSTS / events));
}

/** Whether every figure of the path is given; servers are then not varied either, but only the losses. */
export function isCertain({ sources }: NetworkPosterior): boolean {
  return Object.entries(sources).every(([figure, source]) => figure === 'lossBurst' || source === 'given');
}

function moreSeeds(sample: Scenario, count: number): Scenario[] {
  return Array.from({ length: Math.max(1, count) }, (_, index) => ({ ...sample, seed: index + 1 }));
}

/** Steps of the sequence: powers of the inverse of the root of x^(d+1) = x + 1 above 1. */
function kroneckerSteps(dimensions: number): number[] {
  let root = 1.5;
  for (let step = 0; step < 40; step++) root = (1 + root) ** (1 / (dimensions + 1));
  return Array.from({ length: dimensions }, (_, index) => root ** -(index + 1) % 1);
}
