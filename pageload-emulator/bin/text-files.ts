import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readingProblem, unpackingProblem, writingProblem } from '@hopwise/contract/command-line';
import { printable } from '@hopwise/contract/terminal';
import { InputError } from '@hopwise/pageload-emulator';

const inflate = promisify(gunzip);

/** Small input files, once unpacked, are not larger. */
const MAX_BYTES = 64e6;

/**
 * Reads a small file, plain or gzipped, and parses its text.
 *
 * @throws InputError whose message names the file
 */
export async function readParsed<T>(file: string, parse: (text: string) => T): Promise<T> {
  const name = printable(file, 200);
  let text: string;
  try {
    const bytes = await readFile(file);
    const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    text = (gzipped ? await inflate(bytes, { maxOutputLength: MAX_BYTES }) : bytes).toString('utf8');
  } catch (error) {
    const problem =
      unpackingProblem(error, MAX_BYTES) ?? `expected a readable file, ${readingProblem(error)}`;
    throw new InputError(`${name}: ${problem}`);
  }
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof InputError ? new InputError(`${name}: ${error.message}`) : error;
  }
}

/** Writes a file. @throws InputError, whose message names the file, when it cannot be written */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new InputError(
      `${printable(file, 200)}: expected a file that can be written, ${writingProblem(error)}`,
    );
  }
}
