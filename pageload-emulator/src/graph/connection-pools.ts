import type { Recording } from '../recording/recording.ts';
import { originOf } from '../url.ts';

const WITHOUT_CREDENTIALS = 1;
const IN_FOREIGN_FRAME = 2;

/**
 * Which of an origin's connections each request may share: browsers keep those with and without
 * credentials apart (Fetch standard, "connection pools"; a font of another origin is asked for without), and
 * those of frames from other sites apart from the page's own (network partition keys).
 *
 * @returns by `RecordedRequest.id` a number that is equal for requests that may share; 0 for most
 */
export function connectionPools(recording: Recording): number[] {
  const frames = framesOf(recording);
  return recording.requests.map((request) => {
    const home = frames[request.id] ?? recording.url;
    const anonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
    const foreign = siteOf(home) !== siteOf(recording.url);
    return (anonymous ? WITHOUT_CREDENTIALS : 0) + (foreign ? IN_FOREIGN_FRAME : 0);
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

/** Scheme and the host's last two labels: the registrable domain, but under suffixes such as co.uk, which would take a list. */
function siteOf(url: string): string {
  const origin = originOf(url) ?? url;
  const [scheme, host] = origin.split('://') as [string, string | undefined];
  const name = (host ?? '').replace(/:\d+$/, '');
  return `${scheme}://${/^[\d.]+$|^\[/.test(name) ? name : name.split('.').slice(-2).join('.')}`;
}
