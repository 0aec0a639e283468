import { formatOrigin, PROTOCOL_NAME } from '../../ui/format.ts';

/** What a view needs of a pin; the helper's `PinState` has it. */
export interface PinShown {
  origin: string;
  kind: 'avoid-h3' | 'h1' | 'h2' | 'h3';
  /** Milliseconds since 1970. */
  expiresAtMs: number | null;
  persistent: boolean;
  state: 'waiting' | 'active' | 'lifted';
  reason: string;
}

const DAY_MS = 24 * 3_600_000;

/** A pin in a sentence: what it does and until when, or why it does so no more. */
export function pinInWords(pin: PinShown, nowMs = Date.now()): string {
  const { origin, kind, state, reason } = pin;
  const name = formatOrigin(origin);
  if (state === 'lifted') {
    const again =
      kind === 'avoid-h3' ? 'may use HTTP/3 again' : `is no longer held to ${PROTOCOL_NAME[kind]}`;
    return `${name} ${again}${reason === '' ? '.' : `: ${reason}`}`;
  }
  if (state === 'waiting') {
    const wanted = kind === 'avoid-h3' ? 'kept off HTTP/3' : `held to ${PROTOCOL_NAME[kind]}`;
    return `${name} is to be ${wanted} ${until(pin, nowMs)}. It waits ${reason}.`;
  }
  const held = kind === 'avoid-h3' ? 'is kept off HTTP/3' : `is held to ${PROTOCOL_NAME[kind]}`;
  return `${name} ${held} ${until(pin, nowMs)}.`;
}

function until({ expiresAtMs, persistent }: PinShown, nowMs: number): string {
  if (expiresAtMs === null) return persistent ? 'until you lift it' : 'until the browser is closed';
  const at = new Date(expiresAtMs);
  const isSoon = expiresAtMs - nowMs < DAY_MS;
  const options: Intl.DateTimeFormatOptions = isSoon
    ? { hour: '2-digit', minute: '2-digit' }
    : { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
  const time = new Intl.DateTimeFormat('en-GB', options).format(at);
  return `until ${time}${persistent ? '' : ', or until the browser is closed'}`;
}
