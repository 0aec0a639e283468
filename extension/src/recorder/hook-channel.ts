/**
 * How the hook in the page's own world talks to the content script. The content script names a
 * channel by one event on the document before any script of the page has run; the name is random,
 * so the page can neither listen nor speak on it. The hook answers with one empty event to show that
 * it is there. What arrives is checked as hostile all the same.
 */

/** Event in which the content script names the channel (as `detail`). */
export const CHANNEL_EVENT = 'hopwise:channel';

/** Suffix of the event that makes the hook fall silent for good. */
export const STOP_SUFFIX = ':stop';

/** How a script asked for a resource. `srcset` holds several URLs of which one is fetched. */
export type AskKind = 'fetch' | 'xhr' | 'src' | 'srcset';
