/** Errors that the author of a test can fix. */
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstLine } from '@hopwise/contract';
import { ROOT } from '@hopwise/lab/paths';

/** Stack frames in these folders belong to the fixtures. */
const OWN_FOLDERS = [fileURLToPath(new URL('..', import.meta.url)), join(ROOT, 'lab') + sep];

/** A one-line message; the stack starts at the test's own call, so that the report shows the test's code. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';

  constructor(reason: unknown) {
    super(firstLine(reason));
    const frames = (this.stack ?? '').split('\n').slice(1);
    const foreign = frames.filter(
      (frame) => ![...OWN_FOLDERS, `${sep}node_modules${sep}`].some((folder) => frame.includes(folder)),
    );
    this.stack = [`${this.name}: ${this.message}`, ...foreign].join('\n');
  }
}
