import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readingProblem } from '@hopwise/contract/command-line';
import { clusterStateSchema } from '@hopwise/model';
import * as z from 'zod/mini';
import { clusterRecordSchema } from './cluster-record.ts';
import type { LearnedState } from './window-controller.ts';

const stateSchema = z.object({
  format: z.literal('hopwise-server'),
  version: z.literal(1),
  explorer: z.record(z.string(), clusterStateSchema),
  clusters: z.record(z.string(), clusterRecordSchema),
});

export const stateFile = (folder: string): string => join(folder, 'learned.json');

/** A file that cannot be used, in one line that names it. */
export class StateError extends Error {
  override readonly name = 'StateError';
}

/** Reads what was learned; nothing where there is no file yet. @throws StateError */
export function readState(folder: string): LearnedState {
  const file = stateFile(folder);
  if (!existsSync(file)) return { explorer: {}, clusters: {} };
  try {
    const { explorer, clusters } = stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return { explorer, clusters };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StateError(
      code === undefined
        ? `${file}: expected what the agent writes; remove it to begin anew`
        : `${file}: expected a readable file, ${readingProblem(error)}`,
    );
  }
}

/** Writes what was learned; the file before stays as it is where this fails. @throws of the file system */
export function writeState(folder: string, state: LearnedState): void {
  writeWhole(stateFile(folder), JSON.stringify({ format: 'hopwise-server', version: 1, ...state }));
}

/** Writes a file, or leaves it as it was, also where the disk is full or the process killed meanwhile. */
function writeWhole(file: string, content: string | Buffer): void {
  const fresh = `${file}.new`;
  try {
    writeFileSync(fresh, content, { mode: 0o600, flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

const KEY_BYTES = 32;

/** The key of the hashes, made where it is missing; a file of its own, so that what was learned can be shown without it. @throws of the file system */
export function readOrMakeKey(folder: string): Buffer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'key');
  if (!existsSync(file)) writeWhole(file, randomBytes(KEY_BYTES));
  const key = readFileSync(file);
  if (key.length === KEY_BYTES) return key;
  throw new StateError(`${file}: expected ${KEY_BYTES} bytes, got ${key.length}; remove it and learned.json`);
}
