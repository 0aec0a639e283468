import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { writingProblem } from '@hopwise/contract/command-line';
import { UserError } from './errors.ts';

/**
 * Makes the folder that a command's results go into, before it begins to work.
 *
 * @param dir as the person named it
 * @throws UserError in one line where it cannot be made
 */
export async function makeOutputFolder(dir: string): Promise<void> {
  await makeFolder(dir).catch((error) => {
    throw new UserError(`--out ${dir}: expected a folder that can be made, ${writingProblem(error)}`, 2);
  });
}

/**
 * Checks that a file of results can be written, before a command begins to work.
 *
 * @param option names the file
 * @throws UserError in one line where it cannot be written
 */
export async function checkOutputFile(option: string, file: string): Promise<void> {
  const folder = dirname(resolve(file));
  const problem = (await isFolder(file))
    ? { code: 'EISDIR' }
    : await access(`${folder}/.`, constants.W_OK).then(
        () => null,
        (error) => error,
      );
  if (problem === null) return;
  throw new UserError(
    `${option} ${file}: expected a file that can be written, ${writingProblem(problem)}`,
    2,
  );
}

/**
 * Makes a folder and those above it. Node's own `recursive` goes on for ever below one that takes no folders, such as `/proc`.
 *
 * @returns the first folder that had to be made; undefined where all were there
 */
export async function makeFolder(dir: string): Promise<string | undefined> {
  const problem = await mkdir(dir).then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );
  if (problem === null) return dir;
  if (problem.code === 'EEXIST' && (await isFolder(dir))) return undefined;
  const above = dirname(dir);
  if (problem.code !== 'ENOENT' || above === dir || (await isFolder(above))) throw problem;
  const first = await makeFolder(above);
  await mkdir(dir);
  return first ?? dir;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
