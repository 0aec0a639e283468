/** A smaller share of the load time is no change. */
const MIN_CHANGE = 0.01;

/**
 * A change of a load time, such as `−0.3 s`; '' for one that does not count, or is none as it is written.
 *
 * @param ofMs the load time that changes
 * @param write writes times in the unit of those beside it
 */
export function describeChange(changeMs: number, ofMs: number, write: (ms: number) => string): string {
  const change = write(Math.abs(changeMs));
  if (Math.abs(changeMs) < MIN_CHANGE * ofMs || change === write(0)) return '';
  return `${changeMs < 0 ? '−' : '+'}${change}`;
}
