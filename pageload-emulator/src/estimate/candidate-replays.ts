import type { NetworkPath, UdpTreatment } from '@hopwise/contract';
import type { LogDensity } from '../network/log-density.ts';
import type { RecordingReplay } from './replay.ts';
import { TimingLikelihood } from './timing-likelihood.ts';

/** The path at a rate and with a queue, without random loss. */
export type PathAt = (downBps: number, queueMs: number) => NetworkPath;

/** How well a replay at one downstream rate explains the recorded times: log-likelihoods, up to a constant. */
export interface ReplayedRate {
  bps: number;
  /** Of all responses. */
  all: number;
  /** Of the responses over TCP. */
  tcp: number;
}

/** Events of all replays together: a large page gets fewer replays. */
const MAX_EVENTS = 150_000;
/** The same where a policer explains the load much better than an open path: then it decides how fast the page can load. */
const MAX_EVENTS_IF_POLICED = 180_000;

/** A recording's replays on candidate networks, each made once, within a budget of simulated events. */
export class CandidateReplays {
  readonly recorded: RecordingReplay;
  readonly #pathAt: PathAt;
  readonly #likelihood: TimingLikelihood;
  /** By rate, queue and UDP's treatment. */
  readonly #replayed = new Map<string, ReplayedRate>();
  #events = 0;
  #maxEvents = MAX_EVENTS;

  /** @param lossPrior distribution of random loss, which the likelihood averages out */
  constructor(recorded: RecordingReplay, pathAt: PathAt, rttMs: number, lossPrior: LogDensity) {
    this.recorded = recorded;
    this.#pathAt = pathAt;
    this.#likelihood = new TimingLikelihood(recorded, rttMs, lossPrior);
  }

  /** @throws EndlessLoadError when a replay does not end */
  at(bps: number, queueMs: number, udp: UdpTreatment): ReplayedRate {
    const name = JSON.stringify([bps, queueMs, udp]);
    const replayed = this.#replayed.get(name) ?? this.#replay(bps, queueMs, udp);
    this.#replayed.set(name, replayed);
    return replayed;
  }

  #replay(bps: number, queueMs: number, udp: UdpTreatment): ReplayedRate {
    const times = this.recorded.run({ ...this.#pathAt(bps, queueMs), udp });
    this.spend(times.events);
    return { bps, ...this.#likelihood.of(times) };
  }

  /** Counts the events of replays that are made elsewhere. */
  spend(events: number): void {
    this.#events += events;
  }

  /** Raises the budget for the search of a policer that explains the load much better than an open path. */
  allowForPolicer(): void {
    this.#maxEvents = MAX_EVENTS_IF_POLICED;
  }

  get isExhausted(): boolean {
    return this.#events > this.#maxEvents;
  }

  /** Whether responses over TCP show the link's rate. */
  get showsTcp(): boolean {
    return this.recorded.requests.some(({ protocol, sized }) => protocol !== 'h3' && sized);
  }

  /** Whether responses over HTTP/3 show what happens to UDP. */
  get showsUdp(): boolean {
    return this.recorded.requests.some(({ protocol, sized }) => protocol === 'h3' && sized);
  }
}
