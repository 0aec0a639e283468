/**
 * Node's arguments for host and engine. Most of what a request leaves behind is garbage at once, and a small young generation
 * finds it before it fills 16 MiB: with 1,000 requests in flight host and engine are 10 to 15 MiB smaller each.
 */
export const HEAP_ARGUMENTS: readonly string[] = ['--max-semi-space-size=1'];
