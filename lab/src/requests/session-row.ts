/** Sessions as they are stored, a file each or a line of the table each. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readingProblem } from '@hopwise/contract/command-line';
import * as z from 'zod';
import { networkSchema } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { TRANSPORTS } from './session.ts';

const ms = z.number().nonnegative();
const column = z.array(z.nullable(z.number()));

/** Columns of a session's requests, in order of completion. */
const requestsSchema = z.object({
  index: z.array(z.int().nonnegative()),
  startedMs: z.array(ms),
  tookMs: z.array(ms),
  /** 0 for a failure. */
  status: z.array(z.int().nonnegative()),
  bytes: z.array(z.int().nonnegative()),
  /** 1 to 3; null where the helper reported nothing of the request. */
  protocol: column,
  endedMs: column,
  ttfbMs: column,
  completionMs: column,
  isReused: column,
  rttMs: column,
  segments: column,
  outOfOrder: column,
});

const sessionRowSchema = z
  .object({
    condition: z.string(),
    split: z.string(),
    change: z.string(),
    stack: z.string(),
    transport: z.enum(TRANSPORTS),
    before: networkSchema,
    after: z.array(z.object({ network: networkSchema, forMs: z.nullable(ms) })),
    changesBefore: z.nullable(z.int().nonnegative()),
    changedMs: z.array(z.number()),
    refusal: z.string(),
    requests: requestsSchema,
  })
  .refine(
    ({ requests }) => new Set(Object.values(requests).map(({ length }) => length)).size === 1,
    'columns of unequal length',
  );

/** One session: what it was, and its requests. */
export type SessionRow = z.infer<typeof sessionRowSchema>;

/**
 * The sessions of a folder of `npm run lab -- requests`, or of a table that it wrote.
 *
 * @throws UserError with one line
 */
export async function readSessions(path: string): Promise<SessionRow[]> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    const texts = isFolder ? await readFolder(join(path, 'sessions')) : await readTable(path);
    return texts.map(({ name, text }) => parseRow(name, text));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${path}: expected sessions, ${readingProblem(error)}`, 2);
  }
}

interface NamedText {
  name: string;
  text: string;
}

async function readFolder(dir: string): Promise<NamedText[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(dir, name), 'utf8') })));
}

async function readTable(path: string): Promise<NamedText[]> {
  const lines = (await promisify(gunzip)(await readFile(path))).toString('utf8').trimEnd().split('\n');
  return lines.map((text, at) => ({ name: `${path}, line ${at + 1}`, text }));
}

function parseRow(name: string, text: string): SessionRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`${name}: no JSON`, 2);
  }
  const parsed = sessionRowSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new UserError(`${name}: no session: ${path.join('.')}: ${message}`, 2);
}
