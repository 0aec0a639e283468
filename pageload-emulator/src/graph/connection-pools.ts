import type { Recording } from '../recording/recording.ts';
import { originOf } from '../url.ts';

const WITHOUT_CREDENTIALS = 1;

/**
 * Which of an origin's connections each request may share: browsers keep those with and without
 * credentials apart (Fetch standard, "connection pools"; a font of another origin is asked for without). They
 * share them between a page and its frames: partitions go by the site of the page (Fetch standard, "network partition keys").
 *
 * @returns by `RecordedRequest.id` a number that is equal for requests that may share; 0 for most
 */
export function connectionPools(recording: Recording): number[] {
  const frames = framesOf(recording);
  return recording.requests.map((request) => {
    const home = frames[request.id] ?? recording.url;
    const anonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
    return anonymous ? WITHOUT_CREDENTIALS : 0;
  });
}

/** URL of the frame in which each request was made, its own when it is a frame's document; null in the page itself. */
function framesOf({ requests }: Recording): (string | null)[] {
  const frames: (string | null)[] = [];
  for (const { id, type, url, initiator } of requests) {
    const asker = initiator.requestId;
    // Nobody is asked for by what came later.
    const inherited = asker !== null && asker < id ? frames[asker] : null;
    frames.push(type === 'iframe' ? url : (inherited ?? null));
  }
  return frames;
}
