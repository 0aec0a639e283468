/** Measured flows in a folder: one JSON file, rewritten after each flow, so that an interrupted run can continue. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SerialQueue } from '@hopwise/contract';
import { dropsSchema, schedulingSchema } from '@hopwise/lab/client/lab';
import { networkSchema } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { replaceFile } from '@hopwise/lab/command/write-file';
import * as z from 'zod';
import type { FlowCell } from './grid.ts';

const FLOWS_FILE = 'flows.json';

const flowSchema = z.object({
  /** Seed of the link's losses. */
  seed: z.int(),
  /** From the start of the connection to the request's last byte sent, and to the response's last byte read. */
  sentMs: z.number(),
  totalMs: z.number(),
  /** The flow was given up at `totalMs`. */
  unfinished: z.boolean().optional(),
  /** Packets of both directions, and drops towards the client by cause. */
  packets: z.int(),
  drops: dropsSchema,
  /** Longest delay with which a packet was handed over. */
  latenessMs: z.number(),
  /** Why its time is unreliable after all attempts; empty when it is reliable. */
  disturbed: z.array(z.string()),
});

/** One transfer. */
export type Flow = z.infer<typeof flowSchema>;

const fileSchema = z.object({
  format: z.literal('hopwise-flows'),
  version: z.literal(1),
  kernel: z.string(),
  /** The HTTP/3 servers' stack. */
  quic: z.string(),
  scheduling: schedulingSchema,
  cells: z.record(z.string(), z.object({ network: networkSchema, flows: z.array(flowSchema) })),
});

export type FlowsFile = z.infer<typeof fileSchema>;

/** The settings that flows are measured with. */
type FlowsSetting = Pick<FlowsFile, 'kernel' | 'quic' | 'scheduling'>;

/** @throws UserError naming the place in the file; null when there is none */
export async function readFlows(dir: string): Promise<FlowsFile | null> {
  const path = join(dir, FLOWS_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError(`${path}: ${(error as Error).message}`, 2);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new UserError(`${path}: expected JSON`, 2);
  }
  const parsed = fileSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new UserError(`${path}: ${issue.path.join('.') || 'top level'}: ${issue.message}`, 2);
}

/** The flows of a folder; each added flow is on disk at once. */
export class FlowStore {
  readonly #dir: string;
  readonly #file: FlowsFile;
  readonly #writes = new SerialQueue();

  /** @throws UserError where the folder has flows of another kernel, stack or scheduling */
  constructor(dir: string, present: FlowsFile | null, setting: FlowsSetting) {
    this.#dir = dir;
    for (const name of ['kernel', 'quic', 'scheduling'] as const) {
      if (present && present[name] !== setting[name]) {
        throw new UserError(
          `${dir}: its flows were measured with ${name} ${present[name]}, not ${setting[name]}: choose another --out`,
          2,
        );
      }
    }
    this.#file = present ?? { format: 'hopwise-flows', version: 1, ...setting, cells: {} };
  }

  get file(): FlowsFile {
    return this.#file;
  }

  /** Adds a flow, replacing one of the same seed, and waits until it is on disk. */
  add(cell: FlowCell, flow: Flow): Promise<void> {
    this.#file.cells[cell.id] ??= { network: cell.network, flows: [] };
    const kept = this.#file.cells[cell.id]!;
    kept.flows = [...kept.flows.filter(({ seed }) => seed !== flow.seed), flow];
    return this.#writes.run(() =>
      replaceFile(join(this.#dir, FLOWS_FILE), `${JSON.stringify(this.#file)}\n`),
    );
  }
}

/** Seeds of a cell without an undisturbed flow. */
export function missingSeeds(file: FlowsFile | null, cell: FlowCell, seeds: readonly number[]): number[] {
  const flows = file?.cells[cell.id]?.flows ?? [];
  const there = new Set(flows.filter(({ disturbed }) => disturbed.length === 0).map(({ seed }) => seed));
  return seeds.filter((seed) => !there.has(seed));
}
