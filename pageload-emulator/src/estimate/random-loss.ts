import type { Assignment, MeasuredNetwork, NetworkPath, QuicPackets, ServerProfile } from '@hopwise/contract';
import { emulate } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { LogDensity } from '../network/log-density.ts';
import { PACKET } from '../network/packet.ts';
import { LOSS_BURST_PRIOR, LOSS_PRIOR } from '../network/priors.ts';
import type { PosteriorInput } from './posterior-input.ts';

/** Counted losses weigh as at most this many events, as loss changes from minute to minute; assumed. */
const MAX_LOSS_EVENTS = 8;
/** Probability that a single loss is counted as a burst: two losses in one flight look like one. Assumed. */
const MIN_FURTHER = 0.05;
const SEEDS = [1, 2, 3];
/** Bisection steps: to a thirtieth of the observed loss. */
const STEPS = 5;

/**
 * Prior of random loss, events per packet, before the replays. Measured loss over TCP enters as Poisson counts, without the share
 * that queue drops explain if they are included; the numbers of QUIC's packets as a bound.
 */
export function randomLossPrior(input: PosteriorInput, path: NetworkPath): LogDensity {
  const prior = boundLoss(input.prior.density('loss', LOSS_PRIOR), input.recording.quicPackets);
  const seen = input.measured.loss;
  if (seen === undefined || seen.packets === 0 || input.given.loss !== undefined) return prior;
  const events = seen.isRandom ? seen.events : randomEvents(input, seen, path);
  const weight = Math.min(1, MAX_LOSS_EVENTS / Math.max(events, 1));
  return prior.given((loss) => weight * (events * Math.log(loss) - seen.packets * loss));
}

/**
 * Bounds random loss by the gaps in the numbers of QUIC's packets: queues and policers make some of them, and servers leave numbers out
 * against acknowledgements of what was never sent (RFC 9000 section 21.4), so that random losses are no more than all gaps.
 */
function boundLoss(density: LogDensity, counted: QuicPackets | undefined): LogDensity {
  if (counted === undefined || counted.sent === 0) return density;
  const weight = Math.min(1, MAX_LOSS_EVENTS / Math.max(1, counted.lossEvents));
  const events = Math.round(weight * counted.lossEvents);
  return density.given((loss) => logAtMost(events, weight * counted.sent * loss));
}

/** Natural logarithm of the probability that at most `most` events happen where `mean` are expected (Poisson). */
function logAtMost(most: number, mean: number): number {
  let term = 1;
  let sum = 1;
  for (let events = 1; events <= most; events++) {
    term *= mean / events;
    sum += term;
  }
  return Math.log(sum) - mean;
}

function randomEvents(
  { graph, estimate }: PosteriorInput,
  { events, packets }: NonNullable<MeasuredNetwork['loss']>,
  path: NetworkPath,
): number {
  const page = graph();
  const loads = (['h1', 'h2'] as const).map((protocol) =>
    Object.fromEntries(page.origins.map((origin) => [origin, protocol])),
  );
  return packets * randomLoss(page, path, estimate.servers, loads, Math.min(0.5, events / packets));
}

/**
 * Mean length of loss bursts, packets. Counted losses enter with the likelihood of geometric lengths of mean b: each event ends
 * with probability 1/b after each packet.
 */
export function lossBurstDensity({ prior, measured }: PosteriorInput): LogDensity {
  const density = prior.density('lossBurst', LOSS_BURST_PRIOR);
  const { events = 0, lost } = measured.loss ?? {};
  if (lost === undefined || events === 0) return density;
  const weight = Math.min(1, MAX_LOSS_EVENTS / events);
  const further = Math.max(0, lost - events);
  return density.given(
    (burst) => weight * (further * Math.log(Math.max(MIN_FURTHER, 1 - 1 / burst)) - events * Math.log(burst)),
  );
}

/**
 * Separates random loss from queue drops: finds the random loss with which emulated loads lose as much in all as was observed.
 * Queue drops depend on the protocol, so the two must be distinguished before protocols are compared.
 *
 * @param seen observed loss, queue drops included: lost packets over all packets
 * @param assignments those of the loads in which it was observed
 * @returns a fraction per packet, at most `seen`; 0 when queue drops alone explain it
 */
export function randomLoss(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignments: readonly Assignment[],
  seen: number,
): number {
  const excess = (loss: number) => emulatedLoss(graph, { ...path, loss }, servers, assignments) - seen;
  if (seen === 0 || excess(0) >= 0) return 0;
  if (excess(seen) <= 0) return seen;
  let low = 0;
  let high = seen;
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (excess(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function emulatedLoss(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignments: readonly Assignment[],
): number {
  let lost = 0;
  let packets = 0;
  for (const assignment of assignments) {
    for (const seed of SEEDS) {
      const load = emulate(graph, path, servers, assignment, { seed });
      for (const origin of load.origins) lost += origin.lost + origin.queueDrops;
      packets += load.bytes / PACKET.tcp.payloadBytes;
    }
  }
  return packets === 0 ? 0 : lost / packets;
}
