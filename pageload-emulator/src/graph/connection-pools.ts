import type { RecordedRequest, Recording } from '../recording/recording.ts';
import { originOf } from '../url.ts';

const WITHOUT_CREDENTIALS = 1;
const IN_FOREIGN_FRAME = 2;

/**
 * Which of an origin's connections a request may share: browsers keep those with and without
 * credentials apart (Fetch standard, "connection pools"; a font of another origin is asked for without), and
 * those of frames from other sites apart from the page's own (network partition keys).
 *
 * @returns a number that is equal for requests that may share; 0 for most
 */
export function connectionPool(request: RecordedRequest, recording: Recording): number {
  const frame = frameOf(request, recording);
  const home = frame?.url ?? recording.url;
  const anonymous = request.type === 'font' && originOf(request.url) !== originOf(home);
  const foreign = frame !== null && siteOf(frame.url) !== siteOf(recording.url);
  return (anonymous ? WITHOUT_CREDENTIALS : 0) + (foreign ? IN_FOREIGN_FRAME : 0);
}

/** The frame's document in which a request was made, itself when it is one; null in the page's own. */
function frameOf(request: RecordedRequest, { requests }: Recording): RecordedRequest | null {
  const seen = new Set<number>();
  for (let at: RecordedRequest | undefined = request; at !== undefined && !seen.has(at.id); ) {
    if (at.type === 'iframe') return at;
    seen.add(at.id);
    const asker: number | null = at.initiator.requestId;
    at = asker === null ? undefined : requests[asker];
  }
  return null;
}

/** Scheme and the host's last two labels: the registrable domain, but under suffixes such as co.uk, which would take a list. */
function siteOf(url: string): string {
  const origin = originOf(url) ?? url;
  const [scheme, host] = origin.split('://') as [string, string | undefined];
  const name = (host ?? '').replace(/:\d+$/, '');
  return `${scheme}://${/^[\d.]+$|^\[/.test(name) ? name : name.split('.').slice(-2).join('.')}`;
}
