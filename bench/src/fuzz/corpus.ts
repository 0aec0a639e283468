import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder of inputs, each a file named after its content. */
export class CorpusFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** In a fixed order. */
  read(): Uint8Array[] {
    return readdirSync(this.#folder)
      .sort()
      .map((name) => readFileSync(join(this.#folder, name)));
  }

  add(input: Uint8Array): void {
    writeFileSync(join(this.#folder, digest(input)), input);
  }
}

/**
 * Writes an input that breaks a property, and why beside it.
 *
 * @returns the input's file
 */
export function writeFinding(folder: string, input: Uint8Array, why: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, digest(input));
  writeFileSync(file, input);
  writeFileSync(`${file}.txt`, `${why}\n`);
  return file;
}

function digest(input: Uint8Array): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 16);
}
