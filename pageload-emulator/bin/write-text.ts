import { writeFile } from 'node:fs/promises';
import { InputError } from '@hopwise/pageload-emulator';
import { printable } from './table.ts';

/** @throws InputError, whose message names the file, when it cannot be written */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new InputError(
      `${printable(file, 200)}: expected a file that can be written, got ${code ?? message}`,
    );
  }
}
