/**
 * A set-up file of Vitest: notes the processor time that each file of tests costs, so that `npm test` can say which of the
 * slow ones only wait.
 */
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

/** The kernel's clock ticks in a second, which Linux shows to all programs alike (time(7)). */
const TICKS = 100;

/** User and system time of this process and of its children that have ended, in seconds (proc(5), stat, fields 14 to 17). */
function processorSeconds(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    // Another system than Linux: the time stays unknown.
    return null;
  }
}

const before = processorSeconds();

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures a hook wants.
afterAll(({}, file) => {
  const after = processorSeconds();
  if (before === null || after === null) return;
  Object.assign(file.meta, { processorSeconds: after - before });
});
