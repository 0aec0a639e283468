/** Settings that reduce the memory of host and engine, as measured by `npm run bench -- terminating`. */

/**
 * Arguments of Node. Most objects of a request are garbage at once, and a small young generation collects them before they fill
 * 16 MiB: with 1,000 requests in flight host and engine are 10 MiB smaller each. At half this size, bodies cost a fifth more
 * processor time.
 */
export const HEAP_ARGUMENTS: readonly string[] = ['--max-semi-space-size=2'];

/**
 * Environment of glibc's allocator (`mallopt(3)`): by default each thread has an arena of its own, which keeps freed memory. Host and
 * engine, where only one thread allocates much, are 12 MiB smaller together and no slower.
 */
export const MALLOC_SETTINGS: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
