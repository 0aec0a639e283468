import { type PinState, PROTOCOL_NAME } from '@hopwise/contract';
import { durations } from '@hopwise/pageload-emulator';
import type { PinGain, PinOutcome } from '../../evidence/pin-outcomes.ts';
import { formatCount, formatOrigin, keepUnitsTogether } from '../../ui/format.ts';

const DAY_MS = 24 * 3_600_000;

/** What every pin takes away from the browser: it resolves no names and sends no Encrypted Client Hello for proxied origins. */
export const RESOLVER_NOTE =
  'For a pinned origin the helper looks up the address: the browser’s secure DNS and Encrypted Client Hello do not apply.';

/** What a pin to a protocol takes away besides. */
export const CERTIFICATE_NOTE =
  'Under a pin to a version the helper checks the certificate, without Certificate Transparency or the browser’s list of revoked ones.';

/** One sentence: what a pin does and until when, or why it ended. @param count origins with a pin like this one */
export function describePin(pin: PinState, nowMs = Date.now(), count = 1): string {
  const { origin, kind, state, reason } = pin;
  const [name, is, avoids, itIs] =
    count === 1
      ? [formatOrigin(origin), 'is', 'avoids', 'It is']
      : [formatCount(count, 'origin'), 'are', 'avoid', 'They are'];
  if (state === 'lifted') {
    const again =
      kind === 'avoid-h3' ? 'may use HTTP/3 again' : `${is} no longer pinned to ${PROTOCOL_NAME[kind]}`;
    return `${name} ${again}${reason === '' ? '.' : `: ${reason}`}`;
  }
  if (state === 'waiting') {
    const wanted = kind === 'avoid-h3' ? 'will avoid HTTP/3' : `will be pinned to ${PROTOCOL_NAME[kind]}`;
    return `${name} ${wanted} ${describeEnd(pin, nowMs)}. ${itIs} waiting ${reason}.`;
  }
  const effect = kind === 'avoid-h3' ? `${avoids} HTTP/3` : `${is} pinned to ${PROTOCOL_NAME[kind]}`;
  return `${name} ${effect} ${describeEnd(pin, nowMs)}.`;
}

/** What a pin gained: `4.3 s → 2.3 s, measured over 3 and 2 loads: it saves 1.6 to 2.3 s.` */
export function describeOutcome(outcome: Omit<PinOutcome, 'origin' | 'kind'>): string {
  const { beforeMs, afterMs, beforeLoads, afterLoads, savedMs } = outcome;
  const { low, high } = savedMs;
  const [before, after] = durations(beforeMs, afterMs);
  const loads = afterLoads === 1 ? 'load' : 'loads';
  const measured = `${before} → ${after}, measured over ${beforeLoads} and ${afterLoads} ${loads}`;
  return keepUnitsTogether(`${measured}: ${describeEffect(outcome.effect, low, high)}.`);
}

/** Whether the loads show that pins should be lifted. */
export function isUseless(outcome: Pick<PinGain, 'effect'> | null | undefined): boolean {
  return outcome?.effect === 'nothing' || outcome?.effect === 'harms';
}

function describeEffect(effect: PinOutcome['effect'], lowMs: number, highMs: number): string {
  switch (effect) {
    case 'gains':
      return `it saves ${durations(lowMs, highMs).join(' to ')}`;
    case 'harms':
      return `it costs ${durations(-highMs, -lowMs).join(' to ')}`;
    case 'nothing':
      return 'it gains nothing';
    case 'unclear':
      return 'too few loads to be sure';
  }
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
