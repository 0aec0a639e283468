import { InputError, type ReadRecording } from '@hopwise/pageload-emulator';
import { readInput } from './read-input.ts';
import { printable } from './table.ts';

/**
 * Reads a recording and writes its notes to standard error.
 *
 * @param file `-` for standard input
 * @throws InputError whose message names the file
 */
export async function readNamed(file: string): Promise<ReadRecording> {
  try {
    const read = await readInput(file);
    for (const note of read.notes) process.stderr.write(`${shownName(file)}: ${printable(note, 200)}\n`);
    return read;
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${shownName(file)}: ${error.message}`);
    throw error;
  }
}

/** A file's name for messages. */
export function shownName(file: string): string {
  return file === '-' ? 'standard input' : printable(file, 200);
}
