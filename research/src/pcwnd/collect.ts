/** One measurement of loss by congestion window, by the lab's program. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { labProgram } from '@hopwise/lab/client/build';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import * as z from 'zod';

export const CONGESTION_CONTROLS = ['cubic', 'reno', 'bbr'] as const;
export type PcwndCongestionControl = (typeof CONGESTION_CONTROLS)[number];

/** `tcp_probe`: the kernel's tracepoints, every arriving segment; `tcp_info`: TCP_INFO every 2 ms. */
export const SAMPLERS = ['tcp_probe', 'tcp_info'] as const;
export type Sampler = (typeof SAMPLERS)[number];

const windowCountSchema = z.object({
  /** Congestion window in segments. */
  cwnd: z.int().positive(),
  /** Flights that were sent with this window. */
  rounds: z.int().positive(),
  /** Packets of these flights: fewer than `rounds · cwnd` where the sender did not fill its window. */
  packets: z.int().nonnegative(),
  /** Rounds with a loss: one for each reduction of the window. */
  lossEvents: z.int().nonnegative(),
});

export const measuredSchema = z.object({
  sampler: z.enum(SAMPLERS),
  /** Why TCP_INFO is used instead of tcp_probe. */
  reason: z.string().optional(),
  kernel: z.string(),
  /** Payload of a full segment in bytes. */
  mss: z.int().positive(),
  /** From the first byte to the end of the sampling. */
  seconds: z.number().positive(),
  samples: z.int().nonnegative(),
  /** Samples lost because the kernel's ring buffer was full; the rounds around them are not counted. */
  lostSamples: z.int().nonnegative(),
  /** All reductions of a window, including those in uncounted rounds. */
  recoveries: z.int().nonnegative(),
  /** Acknowledged bytes of all connections. */
  deliveredBytes: z.int().nonnegative(),
  windows: z.array(windowCountSchema),
  /** The link in the direction of the data. */
  down: z.object({
    packets: z.int(),
    drops: z.object({ queue: z.int(), loss: z.int(), device: z.int() }),
    maxQueueBytes: z.int(),
    /** Packets handed over at least 1 ms late. */
    latePackets: z.int(),
  }),
  /** Scheduling of the link's threads; `normal` where the rights for real time are missing. */
  scheduling: z.enum(['fifo', 'normal']),
});

export type PcwndMeasurement = z.infer<typeof measuredSchema>;

const progressSchema = z.object({
  /** Since the first byte. */
  seconds: z.number(),
  rounds: z.int(),
  lossEvents: z.int(),
  /** Counts since the last progress. */
  windows: z.array(windowCountSchema),
  /** State of each connection's sender, by TCP_INFO. */
  connections: z.array(
    z.object({
      /** Segments. */
      cwnd: z.int(),
      ssthresh: z.int(),
      /** A loss is being repaired without a timeout, and the window reduced to `ssthresh`. */
      reducing: z.boolean(),
      /** Smoothed round trip. */
      rttMs: z.number(),
      /** Acknowledged bytes since the first one. */
      deliveredBytes: z.int(),
    }),
  ),
});

export type CollectProgress = z.infer<typeof progressSchema>;

const lineSchema = z.union([
  z.strictObject({ progress: progressSchema }),
  z.strictObject({ result: measuredSchema }),
]);

export interface CollectOptions {
  /** Its seed decides the random losses. */
  network: LabNetwork;
  congestionControl: PcwndCongestionControl;
  /** Parallel bulk transfers, started together. */
  connections: number;
  seconds: number;
  /** What the link becomes so many seconds after the first byte, in order. */
  changes?: readonly { seconds: number; network: LabNetwork }[];
  /** `tcp_probe` unless given, falling back to `tcp_info` where the tracepoints are unavailable. */
  sampler?: Sampler;
  /** Time from one progress to the next; 1,000 unless given. */
  progressMs?: number;
  onProgress?: (progress: CollectProgress) => void;
  signal?: AbortSignal;
}

const EXIT_INPUT = 2;
/** Time for the program to shut down before it is killed. */
const DOWN_LIMIT_MS = 8000;

/**
 * Runs bulk transfers over the emulated link between two network namespaces and counts, at their senders, the
 * rounds and the loss events of every congestion window.
 *
 * @throws UserError with one line that says what is missing and how to fix it
 */
export async function collectPcwnd(options: CollectOptions): Promise<PcwndMeasurement> {
  const { network, congestionControl, connections, seconds, changes, sampler, progressMs, signal } = options;
  signal?.throwIfAborted();
  const binary = await labProgram(signal).catch((error: Error) => {
    signal?.throwIfAborted();
    throw new UserError(error.message);
  });
  const scratch = await makeScratch('lab');
  try {
    const config = join(scratch, 'pcwnd.json');
    await writeFile(
      config,
      JSON.stringify({ network, congestionControl, connections, seconds, changes, sampler, progressMs }),
    );
    return await run(binary, config, options);
  } finally {
    await removeScratch(scratch);
  }
}

function run(
  binary: string,
  config: string,
  { onProgress, signal }: CollectOptions,
): Promise<PcwndMeasurement> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, ['pcwnd', '--config', config], { stdio: ['pipe', 'pipe', 'pipe'] });
    let measured: PcwndMeasurement | undefined;
    let complaint = '';
    let unreadable: Error | undefined;
    let killer: NodeJS.Timeout | undefined;
    // It shuts down when its stdin ends.
    const end = () => {
      child.stdin.end();
      killer ??= setTimeout(() => child.kill('SIGKILL'), DOWN_LIMIT_MS);
    };
    signal?.addEventListener('abort', end, { once: true });
    child.stdin.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-10_000);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      try {
        const read = lineSchema.parse(JSON.parse(line));
        if ('progress' in read) onProgress?.(read.progress);
        else measured = read.result;
      } catch {
        unreadable ??= new UserError(
          `hopwise-lab: expected a measurement as JSON, got ${JSON.stringify(line.slice(0, 100))}`,
        );
        end();
      }
    });
    child.on('error', (error) => {
      complaint = `hopwise-lab: ${binary}: ${error.message}`;
    });
    child.on('close', (code, killed) => {
      clearTimeout(killer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else if (unreadable) reject(unreadable);
      else if (measured && code === 0) resolve(measured);
      else {
        const words = complaint.split('\n').find((line) => line.startsWith('hopwise-lab: '));
        reject(
          new UserError(
            words ?? `hopwise-lab: ended with ${killed ?? `exit code ${code}`}`,
            words !== undefined && code === EXIT_INPUT ? 2 : 1,
          ),
        );
      }
    });
  });
}
