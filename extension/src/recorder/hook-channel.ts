/**
 * The channel from the hook in the page's own world to the content script. The content script names it by one event on the
 * document before any script of the page has run. The name is random, so the page can neither listen nor send on it. The hook
 * answers with one empty event to show that it is installed. Messages are still validated as untrusted input.
 */

/** Event by which the content script announces the name of the channel (as `detail`). */
export const CHANNEL_EVENT = 'hopwise:channel';

/** Suffix of the event that stops the hook for good. */
export const STOP_SUFFIX = ':stop';

/** API by which a script requested a resource. `srcset` lists several URLs, of which one is fetched. */
export type ScriptRequestKind = 'fetch' | 'xhr' | 'src' | 'srcset';
