/**
 * The order in which `values` take turns in a round: Williams' design (1949), in whose cycle of rounds each value comes equally
 * often in each place and right after each other value. The cycle has as many rounds as there are values, twice as many for an
 * odd number.
 *
 * @param round an integer; the cycle repeats
 */
export function takeTurns<T>(values: readonly T[], round: number): T[] {
  const count = values.length;
  if (count < 2) return [...values];
  const isOdd = count % 2 === 1;
  const cycle = isOdd ? 2 * count : count;
  const row = ((round % cycle) + cycle) % cycle;
  const shift = isOdd ? Math.floor(row / 2) : row;
  // 0, 1, n − 1, 2, n − 2, …
  const order = values.map((_, place) => {
    const first = place % 2 === 1 ? (place + 1) / 2 : count - place / 2;
    return values[(first + shift) % count] as T;
  });
  return isOdd && row % 2 === 1 ? order.reverse() : order;
}
