/**
 * `run` as libcurl may call it: koffi turns an exception of a callback into a zero for C, so it is
 * reported instead of being lost.
 */
export function guarded<A extends unknown[]>(
  onFault: (fault: Error) => void,
  run: (...args: A) => number,
): (...args: A) => number {
  return (...args) => {
    try {
      return run(...args);
    } catch (fault) {
      onFault(fault as Error);
      return 0;
    }
  };
}
