/**
 * Index of the first value for which `holds`, by binary search; their number where it holds for none.
 *
 * @param values ordered so that `holds` is true for all values behind the first one
 */
export function firstIndexWhere<T>(values: readonly T[], holds: (value: T) => boolean): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(values[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
