import { objectOf } from './values.ts';

/**
 * Scripts that are read of an initiator's stack, the innermost first. Only which of them arrived last matters, and a stack of more has few
 * that are requests of their own.
 */
export const MAX_SCRIPTS = 32;

/**
 * Lists the URLs of a stack's scripts, each once, innermost first.
 *
 * @param stack DevTools' frames with those of the promises and timers that led to them (`parent`), a trace's list of frames, or the URLs
 *   alone, which reading leaves of either
 */
export function scriptsOf(stack: unknown): Set<string> {
  const urls = new Set<string>();
  for (let part = stack; part != null && urls.size < MAX_SCRIPTS; part = objectOf(part)?.parent) {
    const frames = Array.isArray(part) ? part : objectOf(part)?.callFrames;
    if (!Array.isArray(frames)) continue;
    for (const frame of frames) {
      const url = typeof frame === 'string' ? frame : objectOf(frame)?.url;
      if (typeof url === 'string' && url !== '' && urls.size < MAX_SCRIPTS) urls.add(url);
    }
  }
  return urls;
}
