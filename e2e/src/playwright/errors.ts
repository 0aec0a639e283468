/** What stops a test for a reason that a person can mend. */
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstLine } from '@hopwise/lab/command/errors';
import { ROOT } from '@hopwise/lab/paths';

/** Where frames are these fixtures' own. */
const OWN_FOLDERS = [fileURLToPath(new URL('..', import.meta.url)), join(ROOT, 'lab') + sep];

/** One line. Its stack begins where the test called, so that the report shows the test and not these fixtures. */
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
