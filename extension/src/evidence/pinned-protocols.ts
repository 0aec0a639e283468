import type { Assignment, PinKind, Recording } from '@hopwise/contract';

/** A pin that was active at the end of a load. */
interface ActivePin {
  kind: PinKind;
  /** Milliseconds since 1970. */
  sinceMs: number;
}

/**
 * The protocols that pins held a load's origins to; null when a pin became active during the load, which is then neither a load with
 * it nor one without.
 */
export function findPinnedProtocols(
  recording: Recording,
  activePins: ReadonlyMap<string, ActivePin>,
): Assignment | null {
  const beganMs = Date.parse(recording.recordedAt);
  const pinned: Assignment = {};
  for (const origin of new Set(recording.requests.map(({ url }) => new URL(url).origin))) {
    const pin = activePins.get(origin);
    if (pin === undefined) continue;
    if (pin.sinceMs > beganMs) return null;
    pinned[origin] = pin.kind === 'avoid-h3' ? withoutH3(recording, origin) : pin.kind;
  }
  return pinned;
}

/** The protocol that an origin used instead of HTTP/3. */
function withoutH3({ requests }: Recording, origin: string): 'h1' | 'h2' {
  const own = requests.filter(({ url }) => new URL(url).origin === origin);
  return own.some(({ protocol }) => protocol === 'h1') && !own.some(({ protocol }) => protocol === 'h2')
    ? 'h1'
    : 'h2';
}
