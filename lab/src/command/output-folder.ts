import { mkdir } from 'node:fs/promises';
import { writingProblem } from '@hopwise/contract/command-line';
import { UserError } from './errors.ts';

/**
 * Makes the folder that a command's results go into, before it begins to work.
 *
 * @param dir as the person named it
 * @throws UserError in one line where it cannot be made
 */
export async function makeOutputFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true }).catch((error) => {
    throw new UserError(`--out ${dir}: expected a folder that can be made, ${writingProblem(error)}`, 2);
  });
}
