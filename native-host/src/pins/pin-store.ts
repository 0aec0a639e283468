/**
 * The pins that outlive a session. Each is a file of its own, so that the hosts of several browsers add and remove pins without a
 * lock, and a damaged file takes no other pin along.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MAX_PINS, originSchema, pinKindSchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import { stateDirectory } from '../base/paths.ts';
import type { Pin } from './pin.ts';

export interface KeptPins {
  pins: Pin[];
  problems: PinProblem[];
}

/** What a person should see to, in one line each. */
export interface PinProblem {
  problem: string;
  fix: string;
}

export interface PinStore {
  load(): KeptPins;
  /** @throws the error of `node:fs` */
  keep(pin: Pin): void;
  /** A pin that is not kept is no error. @throws the error of `node:fs` */
  drop(origin: string): void;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const SUFFIX = '.json';
const VERSION = 1;
/** Several times a pin with the longest origin. */
const MAX_FILE_BYTES = 4096;

const keptPin = z.object({
  version: z.literal(VERSION),
  origin: originSchema,
  kind: pinKindSchema,
  expiresAtMs: z.nullable(z.int().check(z.nonnegative())),
});

export class FilePinStore implements PinStore {
  readonly #folder: string;

  constructor(folder: string = join(stateDirectory(), 'pins')) {
    this.#folder = folder;
  }

  load(): KeptPins {
    const kept: KeptPins = { pins: [], problems: [] };
    let names: string[];
    try {
      names = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    } catch (fault) {
      const { code, message } = fault as NodeJS.ErrnoException;
      if (code !== 'ENOENT') kept.problems.push({ problem: message, fix: `remove ${this.#folder}` });
      return kept;
    }
    for (const name of names.sort().slice(0, MAX_PINS)) {
      const path = join(this.#folder, name);
      try {
        kept.pins.push(read(path, name));
      } catch (fault) {
        // Another host may have dropped it meanwhile.
        if ((fault as NodeJS.ErrnoException).code === 'ENOENT') continue;
        kept.problems.push({
          problem: `${path} is not used: ${(fault as Error).message}`,
          fix: `remove ${path}`,
        });
      }
    }
    return kept;
  }

  keep({ origin, kind, expiresAtMs }: Pin): void {
    mkdirSync(this.#folder, { recursive: true, mode: FOLDER_MODE });
    const path = join(this.#folder, fileName(origin));
    const draft = `${path}.${process.pid}.new`;
    try {
      const file = openSync(draft, 'w', FILE_MODE);
      try {
        writeFileSync(file, JSON.stringify({ version: VERSION, origin, kind, expiresAtMs }));
        // Or a crash of the machine could leave an empty file in the place of the former pin.
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(draft, path);
    } catch (fault) {
      rmSync(draft, { force: true });
      throw fault;
    }
  }

  drop(origin: string): void {
    rmSync(join(this.#folder, fileName(origin)), { force: true });
  }
}

/** An origin may be longer than a file's name and has characters that no such name has. */
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
  const parsed = keptPin.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'invalid'}`);
  }
  const { origin, kind, expiresAtMs } = parsed.data;
  // Otherwise nobody could drop it.
  if (fileName(origin) !== name) throw new Error('its name is not that of its origin');
  return { origin, kind, expiresAtMs, persistent: true };
}
