/** What was measured of each kind of network, in one file, so that an interrupted run can continue. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '@hopwise/lab/command/errors';
import { replaceFile } from '@hopwise/lab/command/write-file';
import * as z from 'zod';

const countsSchema = z.object({ segments: z.int(), retransmitted: z.int(), timeouts: z.int() });
/** The kernel's counts of the servers' namespace. */
export type KernelCounts = z.infer<typeof countsSchema>;

export const NO_COUNTS: KernelCounts = { segments: 0, retransmitted: 0, timeouts: 0 };

export const addCounts = (a: KernelCounts, b: KernelCounts): KernelCounts => ({
  segments: a.segments + b.segments,
  retransmitted: a.retransmitted + b.retransmitted,
  timeouts: a.timeouts + b.timeouts,
});

/** Times of requests, milliseconds, in the order of the rounds, and the kernel's counts of all. */
const servedSchema = z.object({ times: z.array(z.number()), counts: countsSchema });
export type Served = z.infer<typeof servedSchema>;

const kindSchema = z.object({
  kind: z.string(),
  learned: servedSchema,
  /** Window of each learned request. */
  used: z.array(z.int()),
  fixed: z.array(servedSchema.extend({ window: z.int() })),
});
export type KindTimes = z.infer<typeof kindSchema>;

const settingsSchema = z.object({ prefixes: z.int(), learning: z.int(), judged: z.int() });
type Settings = z.infer<typeof settingsSchema>;

const fileSchema = z.object({
  format: z.literal('hopwise-windows'),
  version: z.literal(1),
  settings: settingsSchema,
  kinds: z.array(kindSchema),
});

export class KeptWindows {
  readonly #path: string;
  readonly #settings: Settings;
  readonly kinds: KindTimes[];

  private constructor(path: string, settings: Settings, kinds: KindTimes[]) {
    this.#path = path;
    this.#settings = settings;
    this.kinds = kinds;
  }

  /** @throws UserError where the folder's file is of a run with other settings */
  static async open(folder: string, settings: Settings): Promise<KeptWindows> {
    const path = join(folder, 'windows.json');
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return new KeptWindows(path, settings, []);
    const { data, success } = fileSchema.safeParse(JSON.parse(text));
    if (!success || JSON.stringify(data.settings) !== JSON.stringify(settings))
      throw new UserError(`${path}: expected a run with the same options; name another folder by --out`);
    return new KeptWindows(path, settings, data.kinds);
  }

  async add(kind: KindTimes): Promise<void> {
    this.kinds.push(kind);
    const content = { format: 'hopwise-windows', version: 1, settings: this.#settings, kinds: this.kinds };
    await replaceFile(this.#path, JSON.stringify(content));
  }
}
