import { TO_90TH } from '@hopwise/contract';
import { learnNetwork, type NetworkCluster, type Recording } from '@hopwise/pageload-emulator';

/** A figure with its 10th and 90th percentile. */
export interface PooledFigure {
  median: number;
  low: number;
  high: number;
}

/** What loads show of the network that they used: milliseconds, Mbit/s, a fraction of packets. */
export interface SeenNetwork {
  /** Loads of one network that the figures rest on. */
  loads: number;
  rttMs: PooledFigure;
  downMbps: PooledFigure;
  upMbps: PooledFigure;
  loss: PooledFigure;
}

/** Collects what loads of one network show of it, load by load. */
export class PooledNetwork {
  #cluster: NetworkCluster | null = null;

  /** Adds the next load, in order of time; one that cannot be of the same network begins anew. */
  add(recording: Recording): SeenNetwork {
    this.#cluster = learnNetwork(this.#cluster, recording);
    const { loads, rttMs, downBps, upBps, loss } = this.#cluster;
    return {
      loads,
      rttMs: figureOf(rttMs),
      downMbps: figureOf(downBps, 1e-6),
      upMbps: figureOf(upBps, 1e-6),
      loss: figureOf(loss),
    };
  }
}

/** Reads a log-normal distribution. */
function figureOf({ mean, spread }: NetworkCluster['rttMs'], unit = 1): PooledFigure {
  const at = (deviations: number) => unit * Math.exp(mean + deviations * spread);
  return { median: at(0), low: at(-TO_90TH), high: at(TO_90TH) };
}
