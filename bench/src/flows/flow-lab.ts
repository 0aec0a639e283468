/** The lab for measuring single flows: real kernel TCP and quic-go over the emulated link. */
import { Lab, type LabFacts } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import { disturbedBy, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import type { Site } from '@hopwise/lab/sites/site';
import { FLOW_BYTES, type FlowCell } from './grid.ts';
import type { Flow } from './store.ts';
import { makeTransfers, TIMEOUT_MS } from './transfers.ts';

const TCP = 'https://tcp.flows.test';
const QUIC = 'https://quic.flows.test';

/** Attempts at a disturbed flow. */
const ATTEMPTS = 4;

/** A body of each size on a TCP and a QUIC origin. */
export function flowSite(sizes: readonly number[] = FLOW_BYTES): Site {
  return {
    format: 'hopwise-site',
    version: 1,
    name: 'flows',
    entry: `${TCP}/${sizes[0]}`,
    origins: [
      { origin: TCP, protocols: ['h1'], extraRttMs: 0, priorities: 'ignored' },
      { origin: QUIC, protocols: ['h3'], extraRttMs: 0, priorities: 'ignored' },
    ],
    resources: [TCP, QUIC].flatMap((origin) =>
      sizes.map((bytes) => ({
        origin,
        path: `/${bytes}`,
        status: 200,
        headers: {},
        body: { filler: 'bytes' as const, bytes },
        thinkMs: 0,
      })),
    ),
  };
}

export class FlowLab {
  readonly #lab: Lab;
  readonly #signal: AbortSignal;

  private constructor(lab: Lab, signal: AbortSignal) {
    this.#lab = lab;
    this.#signal = signal;
  }

  /** @param site folder of `flowSite()` */
  static async up(site: string, cell: FlowCell, signal: AbortSignal): Promise<FlowLab> {
    const lab = await Lab.up({ site, network: cell.network, aheadOfOthers: true, signal });
    return new FlowLab(lab, signal);
  }

  get facts(): LabFacts {
    return this.#lab.facts;
  }

  down(): Promise<void> {
    return this.#lab.down();
  }

  /** Configures the TCP server for the cell. */
  async prepare({ sender, initialWindow }: FlowCell): Promise<void> {
    if (sender === 'quic') return;
    await this.#lab.configureServers({ [TCP]: { congestionControl: sender, initialWindow } });
  }

  /** One transfer over a new connection on an empty link, repeated if disturbed. */
  async measure(cell: FlowCell, seed: number): Promise<Flow> {
    let least: Flow | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const flow = await this.#once(cell, seed);
      if (flow.disturbed.length === 0) return flow;
      if (least === undefined || flow.latenessMs < least.latenessMs) least = flow;
    }
    return least!;
  }

  async #once({ sender, bytes, network }: FlowCell, seed: number): Promise<Flow> {
    const lab = this.#lab;
    await lab.drain();
    await lab.configure({ ...network, seed });
    await lab.resetStats();
    const watch = await watchDisturbance({ lab });
    const [transfer] = await makeTransfers(
      lab,
      sender === 'quic' ? { origin: QUIC, protocol: 'h3' } : { origin: TCP, protocol: 'h1' },
      [bytes],
      this.#signal,
    );
    const seen = await watch.end();
    const { down, up } = await lab.stats();
    // A client scheduled ahead of all other processes is not delayed by them.
    const ahead = lab.facts.scheduling === 'fifo';
    return {
      seed,
      ...transfer!,
      packets: down.packets + up.packets,
      drops: down.drops,
      latenessMs: seen.latenessMs,
      disturbed: disturbedBy(ahead ? { ...seen, foreignCpu: 0 } : seen),
    };
  }

  /**
   * Transfers of these sizes one after the other on one TCP connection.
   *
   * @returns milliseconds from each request's last byte to its response's last byte, in order
   */
  async measureStream(
    { network }: Pick<FlowCell, 'network'>,
    seed: number,
    sizes: readonly number[],
  ): Promise<number[]> {
    await this.#lab.drain();
    await this.#lab.configure({ ...network, seed });
    const transfers = await makeTransfers(this.#lab, { origin: TCP, protocol: 'h1' }, sizes, this.#signal);
    return transfers.map(({ sentMs, totalMs, unfinished }, index) => {
      if (unfinished) throw new UserError(`transfer ${index} of a stream took over ${TIMEOUT_MS} ms`);
      return totalMs - sentMs;
    });
  }
}
