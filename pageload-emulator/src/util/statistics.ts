/** Index of the value nearest to `target`, the first of several equally near; 0 for no values. */
export function indexOfNearest(values: readonly number[], target: number): number {
  let nearest = 0;
  for (const [index, value] of values.entries()) {
    if (Math.abs(value - target) < Math.abs(values[nearest]! - target)) nearest = index;
  }
  return nearest;
}
