/** Limits of processor time that hold on slower processors too, which have as much longer as they take longer for a reference. */

const MAX_SECONDS = 2;
/** What the processor of which the two seconds are said takes to parse the reference. */
const REFERENCE_SECONDS = 0.1;
const reference = (): string =>
  JSON.stringify(
    Array.from({ length: 200_000 }, (_, index) => ({
      a: index,
      b: String(index * 7_919),
      c: [index, index + 1],
    })),
  );

/** What other processes take of the machine is not in it. */
export function processorSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/**
 * Seconds of this processor, at the moment, that are as long as two of the one they are said of.
 *
 * @param taken what was taken: less than two seconds is soon enough on any.
 */
export function mostSeconds(taken: number): number {
  if (taken < MAX_SECONDS) return MAX_SECONDS;
  const text = reference();
  return MAX_SECONDS * Math.max(1, processorSeconds(() => JSON.parse(text)) / REFERENCE_SECONDS);
}
