/** Limits of processor time, scaled on slower processors by the time that they take for a reference. */

const MAX_SECONDS = 3;
/** Time of the processor for which the limit is three seconds to parse the reference. */
const REFERENCE_SECONDS = 0.1;
const reference = (): string =>
  JSON.stringify(
    Array.from({ length: 200_000 }, (_, index) => ({
      a: index,
      b: String(index * 7_919),
      c: [index, index + 1],
    })),
  );

/** Processor time of this process only. */
export function processorSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/**
 * The limit of three seconds, scaled to this processor's current speed.
 *
 * @param taken processor time used: below three seconds it needs no scaling
 */
export function mostSeconds(taken: number): number {
  if (taken < MAX_SECONDS) return MAX_SECONDS;
  const text = reference();
  return MAX_SECONDS * Math.max(1, processorSeconds(() => JSON.parse(text)) / REFERENCE_SECONDS);
}
