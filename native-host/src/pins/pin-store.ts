/**
 * The stored pins: those that outlive a session, and those that wait for the next one. Each has a file of its own, so that the
 * hosts of several browsers add and remove pins without a lock, and a damaged file affects one pin only.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_PINS, originSchema, pinKindSchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import { stateDirectory } from '../base/paths.ts';
import { replaceFile } from '../base/replace-file.ts';
import type { Pin } from './pin.ts';

export interface StoredPins {
  /** Those that are not `persistent` are for the next session only. */
  pins: Pin[];
  problems: PinProblem[];
}

/** What the user has to fix, in one line each. */
export interface PinProblem {
  problem: string;
  fix: string;
}

export interface PinStore {
  load(): StoredPins;
  /** Stores a pin, for all sessions or, where it is not `persistent`, for the next one. @throws the error of `node:fs` */
  keep(pin: Pin): void;
  /** A pin that is not stored is no error. @throws the error of `node:fs` */
  drop(origin: string): void;
}

const SUFFIX = '.json';
const VERSION = 1;
/** Several times the size of a pin with the longest origin. */
const MAX_FILE_BYTES = 4096;

const storedPin = z.object({
  version: z.literal(VERSION),
  origin: originSchema,
  kind: pinKindSchema,
  expiresAtMs: z.nullable(z.int().check(z.nonnegative())),
  /** Whether the next session takes the pin up and ends it; absent for pins of all sessions. */
  nextSessionOnly: z.optional(z.literal(true)),
  /** Absent for pins of public addresses only. */
  allowLocal: z.optional(z.literal(true)),
});

export class FilePinStore implements PinStore {
  readonly #folder: string;

  constructor(folder: string = join(stateDirectory(), 'pins')) {
    this.#folder = folder;
  }

  load(): StoredPins {
    const stored: StoredPins = { pins: [], problems: [] };
    let names: string[];
    try {
      names = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    } catch (fault) {
      const { code, message } = fault as NodeJS.ErrnoException;
      if (code !== 'ENOENT') stored.problems.push({ problem: message, fix: `remove ${this.#folder}` });
      return stored;
    }
    for (const name of names.sort().slice(0, MAX_PINS)) {
      const path = join(this.#folder, name);
      try {
        stored.pins.push(read(path, name));
      } catch (fault) {
        // Another host may have removed it meanwhile.
        if ((fault as NodeJS.ErrnoException).code === 'ENOENT') continue;
        stored.problems.push({
          problem: `${path} is not used: ${(fault as Error).message}`,
          fix: `remove ${path}`,
        });
      }
    }
    return stored;
  }

  keep({ origin, kind, expiresAtMs, persistent, allowLocal }: Pin): void {
    const stored: z.infer<typeof storedPin> = { version: VERSION, origin, kind, expiresAtMs };
    if (!persistent) stored.nextSessionOnly = true;
    if (allowLocal) stored.allowLocal = true;
    replaceFile(join(this.#folder, fileName(origin)), JSON.stringify(stored), 'private');
  }

  drop(origin: string): void {
    rmSync(join(this.#folder, fileName(origin)), { force: true });
  }
}

/** An origin may be longer than a file name, and has characters that file names cannot have. */
function fileName(origin: string): string {
  return `${createHash('sha256').update(origin).digest('hex').slice(0, 32)}${SUFFIX}`;
}

function read(path: string, name: string): Pin {
  const { size } = statSync(path);
  if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes of at most ${MAX_FILE_BYTES}`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== undefined) throw fault;
    throw new Error('it is not JSON');
  }
  const parsed = storedPin.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'invalid'}`);
  }
  const { origin, kind, expiresAtMs, nextSessionOnly, allowLocal } = parsed.data;
  // Otherwise `drop` would not find it.
  if (fileName(origin) !== name) throw new Error('its name is not that of its origin');
  return { origin, kind, expiresAtMs, persistent: nextSessionOnly !== true, allowLocal };
}
