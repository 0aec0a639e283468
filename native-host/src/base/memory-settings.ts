/** What keeps host and engine small, as measured by `npm run bench:terminating`. */

/**
 * Node's arguments. Most of what a request leaves behind is garbage at once, and a small young generation
 * finds it before it fills 16 MiB: with 1,000 requests in flight host and engine are 10 MiB smaller each. At half of this,
 * bodies cost a fifth more processor time.
 */
export const HEAP_ARGUMENTS: readonly string[] = ['--max-semi-space-size=2'];

/**
 * Of glibc's allocator, by `mallopt(3)`: else each thread has a heap of its own, which keeps what others have given back. Host and
 * engine, of which one thread alone allocates much, are 12 MiB smaller together and no slower.
 */
export const MALLOC_SETTINGS: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
