/**
 * Finds the index of the first value for which `holds`, by binary search; `values.length` when it holds for none.
 *
 * @param values ordered so that `holds` is true for all values after the first such one
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
