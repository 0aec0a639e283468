import { type PinState, PROTOCOL_NAME } from '@hopwise/contract';
import { formatOrigin } from '../../ui/format.ts';

const DAY_MS = 24 * 3_600_000;

/** What every pin takes away from the browser: it resolves no names and sends no Encrypted Client Hello for proxied origins. */
export const RESOLVER_NOTE =
  'For a pinned origin the helper looks up the address: the browser’s secure DNS and Encrypted Client Hello do not apply.';

/** What a pin to a protocol takes away besides. */
export const CERTIFICATE_NOTE =
  'Under a pin to a version the helper checks the certificate, without Certificate Transparency or the browser’s list of revoked ones.';

/** One sentence: what a pin does and until when, or why it ended. */
export function describePin(pin: PinState, nowMs = Date.now()): string {
  const { origin, kind, state, reason } = pin;
  const name = formatOrigin(origin);
  if (state === 'lifted') {
    const again =
      kind === 'avoid-h3' ? 'may use HTTP/3 again' : `is no longer pinned to ${PROTOCOL_NAME[kind]}`;
    return `${name} ${again}${reason === '' ? '.' : `: ${reason}`}`;
  }
  if (state === 'waiting') {
    const wanted = kind === 'avoid-h3' ? 'will avoid HTTP/3' : `will be pinned to ${PROTOCOL_NAME[kind]}`;
    return `${name} ${wanted} ${describeEnd(pin, nowMs)}. It is waiting ${reason}.`;
  }
  const effect = kind === 'avoid-h3' ? 'avoids HTTP/3' : `is pinned to ${PROTOCOL_NAME[kind]}`;
  return `${name} ${effect} ${describeEnd(pin, nowMs)}.`;
}

function describeEnd({ expiresAtMs, persistent }: PinState, nowMs: number): string {
  if (expiresAtMs === null) return persistent ? 'until you remove the pin' : 'until the browser is closed';
  const at = new Date(expiresAtMs);
  const isSoon = expiresAtMs - nowMs < DAY_MS;
  const options: Intl.DateTimeFormatOptions = isSoon
    ? { hour: '2-digit', minute: '2-digit' }
    : { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
  const time = new Intl.DateTimeFormat('en-GB', options).format(at);
  return `until ${time}${persistent ? '' : ', or until the browser is closed'}`;
}
