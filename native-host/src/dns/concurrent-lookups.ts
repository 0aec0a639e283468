/**
 * Threads of libuv's pool, half of which may wait for the system's resolver (`UV__WORK_SLOW_IO`): 32 names at once. Node's own four
 * threads ask for two, so that two names that no resolver answers would hold up all other hosts of a page for ten seconds.
 */
const THREADS = '64';

/** Lets many names be looked up at once. To be called before anything uses the pool; a value that the user has set stays. */
export function allowConcurrentLookups(): void {
  process.env.UV_THREADPOOL_SIZE ??= THREADS;
}
