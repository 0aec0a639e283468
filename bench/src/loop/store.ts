/** The steps of a run in a folder: one line of JSON each, so that an interrupted run can continue. */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine, UserError } from '@hopwise/lab/command/errors';
import * as z from 'zod';
import { ARMS } from './decision-loop.ts';

const FILE = 'loop.jsonl';

const armSchema = z.object({
  name: z.enum(ARMS),
  predicted: z.nullable(z.object({ low: z.number(), pltMs: z.number(), high: z.number() })),
});

const stepSchema = z.object({
  step: z.int(),
  key: z.string(),
  network: z.string(),
  arm: z.enum(ARMS),
  reason: z.enum(['first', 'best', 'trial', 'explore']),
  /** Of the loop's load, of the browser's own choice beside it, and now and then of every arm, milliseconds. */
  ms: z.number(),
  naturalMs: z.number(),
  reference: z.partialRecord(z.enum(ARMS), z.number()).nullable(),
  /** Loads of these two that other work on the machine disturbed, as often as they were repeated. */
  disturbed: z.int(),
  /** After a network's first load. */
  predicted: z.array(armSchema).nullable(),
});

/** One load of the loop, and what was loaded beside it. */
export type Step = z.infer<typeof stepSchema>;

const headSchema = z.object({
  format: z.literal('hopwise-loop'),
  version: z.literal(1),
  page: z.string(),
  loads: z.int(),
  seed: z.int(),
});

/** What a run is made with; a folder holds steps of one such setting. */
export type LoopSetting = Pick<z.infer<typeof headSchema>, 'page' | 'loads' | 'seed'>;

/** @throws UserError naming the line, or the setting that differs; a line that was cut off at the end is left out */
export async function readSteps(dir: string, setting: LoopSetting): Promise<Step[]> {
  const path = join(dir, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new UserError(`${path}: ${firstLine(error)}`, 2);
  });
  if (text === null) {
    await mkdir(dir, { recursive: true }).catch((error) => {
      throw new UserError(`${dir}: ${firstLine(error)}`, 2);
    });
    await writeFile(path, `${JSON.stringify({ format: 'hopwise-loop', version: 1, ...setting })}\n`);
    return [];
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await writeFile(path, whole);
  const [first, ...lines] = whole.split('\n').slice(0, -1);
  const head = parseLine(headSchema, first ?? '', `${path}, line 1`);
  for (const name of ['page', 'loads', 'seed'] as const) {
    if (head[name] !== setting[name])
      throw new UserError(
        `${path}: its loads are of --${name} ${head[name]}, expected ${setting[name]}: choose another folder with --out`,
        2,
      );
  }
  return lines.map((line, index) => parseLine(stepSchema, line, `${path}, line ${index + 2}`));
}

export async function addStep(dir: string, step: Step): Promise<void> {
  await appendFile(join(dir, FILE), `${JSON.stringify(step)}\n`);
}

function parseLine<T>(schema: z.ZodType<T>, line: string, where: string): T {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    throw new UserError(`${where}: expected JSON`, 2);
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new UserError(`${where}: ${issue.path.join('.') || 'line'}: ${issue.message}`, 2);
}
