/** Transfers by the lab's own client, which runs ahead of the machine's other processes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { labProgram } from '@hopwise/lab/client/build';
import type { Lab } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import * as z from 'zod';
import type { Flow } from './store.ts';

/** Several times the longest expected flow, as heavy losses can delay a flow indefinitely. */
export const TIMEOUT_MS = 40_000;

const transferSchema = z.object({
  status: z.int().optional(),
  bytes: z.int(),
  sentMs: z.number(),
  totalMs: z.number(),
  error: z.string().optional(),
});

/** A server that has a body of each size under its size as path: see `flowSite`. */
export interface FlowServer {
  /** `https://host`. */
  origin: string;
  protocol: 'h1' | 'h3';
  /** The rate that the client announces (`Start-Rate`), Mbit/s. */
  startMbps?: number;
}

/**
 * Transfers of these sizes in bytes one after the other, on one connection.
 *
 * @throws UserError for a transfer that failed; one that took too long is `unfinished`
 */
export async function makeTransfers(
  lab: Lab,
  server: FlowServer,
  sizes: readonly number[],
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Pick<Flow, 'sentMs' | 'totalMs' | 'unfinished'>[]> {
  const { origin, protocol } = server;
  const urls = sizes.map((bytes) => `${origin}/${bytes}`);
  const [command, ...args] = await clientCommand(lab, server, timeoutMs, urls, signal);
  const { stdout } = await promisify(execFile)(command!, args, { signal });
  const lines = stdout.trimEnd().split('\n');
  return sizes.map((bytes, index) => readTransfer(lines[index] ?? '', protocol, bytes));
}

/** No body of an `EndlessTransfer` takes as long. */
const ENDLESS_TIMEOUT_MS = 3_600_000;

/** A transfer that goes on until it is stopped. */
export class EndlessTransfer {
  readonly #client: ChildProcess;

  private constructor(client: ChildProcess) {
    this.#client = client;
  }

  /** Fetches the body again and again on one connection, as many times as given. */
  static async start(
    lab: Lab,
    server: FlowServer,
    bytes: number,
    times: number,
    signal: AbortSignal,
  ): Promise<EndlessTransfer> {
    const urls = Array<string>(times).fill(`${server.origin}/${bytes}`);
    const [command, ...args] = await clientCommand(lab, server, ENDLESS_TIMEOUT_MS, urls, signal);
    const client = spawn(command!, args, { stdio: 'ignore' });
    await once(client, 'spawn');
    return new EndlessTransfer(client);
  }

  get isRunning(): boolean {
    return this.#client.exitCode === null && this.#client.signalCode === null;
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.#client, 'exit');
    this.#client.kill();
    await ended;
  }
}

async function clientCommand(
  lab: Lab,
  { protocol, startMbps }: FlowServer,
  timeoutMs: number,
  urls: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  return lab.enterCommand([
    await labProgram(signal),
    ...['check', '--ahead', '--keep', '--ca', lab.caFile, '--protocol', protocol],
    ...['--timeout', `${timeoutMs}ms`],
    ...(startMbps === undefined ? [] : ['--start-rate', String(startMbps)]),
    ...urls,
  ]);
}

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
