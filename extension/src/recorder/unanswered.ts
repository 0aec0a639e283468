import { originOf } from '@hopwise/pageload-emulator';
import type { FrameTimings, ResourceEntry } from './page-timings.ts';

type Document = Pick<FrameTimings, 'url' | 'isOpaque'>;

/** Whether the browser shows a document what a request was answered: by a server of its origin. */
export const showsAnswer = ({ url, isOpaque }: Document, { name }: ResourceEntry): boolean =>
  !isOpaque && originOf(name) === originOf(url);

/**
 * Whether a request whose answer would show got none. An answer has a status, also one of the document's service worker, which has no protocol. In Firefox a
 * redirect to another site looks the same.
 */
export const isUnanswered = ({ nextHopProtocol, responseStatus }: ResourceEntry): boolean =>
  nextHopProtocol === '' && responseStatus === 0;
