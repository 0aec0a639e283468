import { originOf } from '@hopwise/pageload-emulator';
import type { ResourceEntry } from './page-timings.ts';

/**
 * Whether a document's entry is of a request to its own origin that got no answer. From there nothing is withheld: an answer has a status, also one of its service
 * worker, which has no protocol. In Firefox a redirect to another site looks the same.
 */
export const isUnanswered = (
  { name, nextHopProtocol, responseStatus }: ResourceEntry,
  documentUrl: string,
): boolean => originOf(name) === originOf(documentUrl) && nextHopProtocol === '' && responseStatus === 0;
