/** Measured rounds of a sender on a link in a file of their own, so that an interrupted run can continue. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '@hopwise/lab/command/errors';
import { fileNamePart, replaceFile } from '@hopwise/lab/command/write-file';
import * as z from 'zod';
import type { Link, StartSender } from './starts.ts';

const flowSchema = z.object({
  /** From the begin of the connection. */
  timeMs: z.number(),
  /** Packets of both flows that the queue dropped meanwhile. */
  drops: z.int(),
  /** Longest delay with which a packet was handed over. */
  latenessMs: z.number(),
});

const fileSchema = z.object({
  format: z.literal('hopwise-starts'),
  version: z.literal(2),
  seed: z.int(),
  rounds: z.array(z.array(flowSchema)),
});

/** One transfer from its connection's begin, beside another flow on the link. */
export type StartedFlow = z.infer<typeof flowSchema>;

interface StartsPlace {
  dir: string;
  sender: StartSender;
  link: Link['name'];
  seed: number;
}

export class KeptStarts {
  readonly #path: string;
  readonly #seed: number;
  /** Flows by round and start. */
  readonly rounds: StartedFlow[][];

  private constructor(path: string, seed: number, rounds: StartedFlow[][]) {
    this.#path = path;
    this.#seed = seed;
    this.rounds = rounds;
  }

  /** @throws UserError for an unreadable file, or one of another seed */
  static async open({ dir, sender, link, seed }: StartsPlace): Promise<KeptStarts> {
    await mkdir(dir, { recursive: true });
    const path = join(dir, `${sender}-${fileNamePart(link)}.json`);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new UserError(`${path}: ${error.message}`, 2);
    });
    if (text === null) return new KeptStarts(path, seed, []);
    const parsed = fileSchema.safeParse(asJson(text));
    if (!parsed.success) throw new UserError(`${path}: expected rounds of an earlier run`, 2);
    if (parsed.data.seed !== seed)
      throw new UserError(`${path}: its rounds have seed ${parsed.data.seed}, not ${seed}`, 2);
    return new KeptStarts(path, seed, parsed.data.rounds);
  }

  async add(round: StartedFlow[]): Promise<void> {
    this.rounds.push(round);
    const file: z.infer<typeof fileSchema> = {
      format: 'hopwise-starts',
      version: 2,
      seed: this.#seed,
      rounds: this.rounds,
    };
    await replaceFile(this.#path, `${JSON.stringify(file)}\n`);
  }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
