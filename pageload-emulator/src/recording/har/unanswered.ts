import type { Har } from './schema.ts';

/**
 * Takes requests that have no response for unanswered where others of the file have one: proxies write so what failed, or was under way
 * when they saved. Of a file without any response they tell nothing.
 */
export function withUnanswered(log: Har): Har {
  if (log.entries.every(({ response }) => response == null)) return log;
  return {
    ...log,
    // Phases of no response mean nothing, such as a wait that never ended.
    entries: log.entries.map((entry) =>
      entry.response == null ? { ...entry, response: { status: 0 }, timings: null } : entry,
    ),
  };
}
