/** The lab for measuring single flows: real kernel TCP and quic-go over the emulated link. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { labProgram } from '@hopwise/lab/client/build';
import { Lab, type LabFacts } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import { disturbedBy, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import type { Site } from '@hopwise/lab/sites/site';
import * as z from 'zod';
import { FLOW_BYTES, type FlowCell } from './grid.ts';
import type { Flow } from './store.ts';

const TCP = 'https://tcp.flows.test';
const QUIC = 'https://quic.flows.test';

/** Attempts at a disturbed flow. */
const ATTEMPTS = 4;
/** Several times the longest expected flow, as heavy losses can delay a flow indefinitely. */
const TIMEOUT_MS = 40_000;

const transferSchema = z.object({
  status: z.int().optional(),
  bytes: z.int(),
  sentMs: z.number(),
  totalMs: z.number(),
  error: z.string().optional(),
});

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
  readonly #program: string;
  readonly #signal: AbortSignal;

  private constructor(lab: Lab, program: string, signal: AbortSignal) {
    this.#lab = lab;
    this.#program = program;
    this.#signal = signal;
  }

  /** @param site folder of `flowSite()` */
  static async up(site: string, cell: FlowCell, signal: AbortSignal): Promise<FlowLab> {
    const program = await labProgram(signal);
    const lab = await Lab.up({ site, network: cell.network, aheadOfOthers: true, signal });
    return new FlowLab(lab, program, signal);
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
    const [transfer] = await this.#transfer(sender === 'quic' ? QUIC : TCP, sender === 'quic' ? 'h3' : 'h1', [
      bytes,
    ]);
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
    const transfers = await this.#transfer(TCP, 'h1', sizes);
    return transfers.map(({ sentMs, totalMs, unfinished }, index) => {
      if (unfinished) throw new UserError(`transfer ${index} of a stream took over ${TIMEOUT_MS} ms`);
      return totalMs - sentMs;
    });
  }

  /** Transfers of these sizes one after the other, on one connection. */
  async #transfer(
    origin: string,
    protocol: string,
    sizes: readonly number[],
  ): Promise<Pick<Flow, 'sentMs' | 'totalMs' | 'unfinished'>[]> {
    const [command, ...args] = this.#lab.enterCommand([
      this.#program,
      'check',
      '--ahead',
      '--keep',
      '--ca',
      this.#lab.caFile,
      '--protocol',
      protocol,
      '--timeout',
      `${TIMEOUT_MS}ms`,
      ...sizes.map((bytes) => `${origin}/${bytes}`),
    ]);
    const { stdout } = await promisify(execFile)(command!, args, { signal: this.#signal });
    const lines = stdout.trimEnd().split('\n');
    return sizes.map((bytes, index) => readTransfer(lines[index] ?? '', protocol, bytes));
  }
}

/** @throws UserError for a transfer that failed */
function readTransfer(
  line: string,
  protocol: string,
  bytes: number,
): Pick<Flow, 'sentMs' | 'totalMs' | 'unfinished'> {
  const { sentMs, totalMs, error, status, bytes: received } = transferSchema.parse(JSON.parse(line));
  // Timeout of the transfer, or of a QUIC connection idle for 30 s.
  if (error !== undefined && /timeout|deadline/i.test(error)) return { sentMs, totalMs, unfinished: true };
  if (error !== undefined) throw new UserError(`a flow of ${bytes} bytes over ${protocol} failed: ${error}`);
  if (status !== 200 || received !== bytes) {
    throw new UserError(
      `a flow over ${protocol}: expected ${bytes} bytes, got ${received} with status ${status}`,
    );
  }
  return { sentMs, totalMs };
}
