/**
 * Wraps `run` as a callback of libcurl. koffi would turn an exception into a return value of zero; this reports it to
 * `onFault`, and returns `failure`.
 */
export function guarded<A extends unknown[]>(
  onFault: (fault: Error) => void,
  run: (...args: A) => number,
  failure = 0,
): (...args: A) => number {
  return (...args) => {
    try {
      return run(...args);
    } catch (fault) {
      onFault(fault as Error);
      return failure;
    }
  };
}
