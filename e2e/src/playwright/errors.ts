/** What stops a test for a reason that a person can mend. */
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstLine } from '../command/errors.ts';

const OWN_FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** One line. Its stack begins where the test called, so that the report shows the test and not these fixtures. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';

  constructor(reason: unknown) {
    super(firstLine(reason));
    const frames = (this.stack ?? '').split('\n').slice(1);
    const foreign = frames.filter(
      (frame) => !frame.includes(OWN_FOLDER) && !frame.includes(`${sep}node_modules${sep}`),
    );
    this.stack = [`${this.name}: ${this.message}`, ...foreign].join('\n');
  }
}
