import { MINUTE_MS, type PinState } from '@hopwise/contract';
import type { HelperPins, HelperRequest } from '../../helper/helper-connection.ts';
import type { PlannedPin } from '../plan-pins.ts';

export type HelperPinRequest = Extract<HelperRequest, { type: 'pin' | 'unpin' | 'steer' | 'pins' }>;
type NewPin = Omit<Extract<HelperRequest, { type: 'pin' }>, 'type'>;

/**
 * A pin's transaction: the helper makes all of these pins, or those that it has made are removed again and the pins that they had
 * replaced are restored for their remaining time.
 *
 * @param ask has the helper carry out a request
 * @returns the helper's last report, null when it has changed nothing; and the error by which it refused a pin, null for none
 * @throws HelperError when the helper cannot be asked at all
 */
export async function pinAllOrNone(
  pins: readonly NewPin[],
  ask: (request: HelperPinRequest) => Promise<HelperPins>,
): Promise<{ report: HelperPins | null; refusal: unknown }> {
  const { pins: before } = await ask({ type: 'pins' });
  let report: HelperPins | null = null;
  const made: string[] = [];
  try {
    for (const pin of pins) {
      report = await ask({ type: 'pin', ...pin });
      made.push(pin.origin);
    }
    return { report, refusal: null };
  } catch (refusal) {
    for (const origin of made.reverse()) {
      try {
        report = await ask(undoing(origin, before));
      } catch (error) {
        console.error(`hopwise: pins: ${origin} is not as it was before:`, error);
      }
    }
    return { report, refusal };
  }
}

/** What makes an origin's pin as it was before a transaction. */
function undoing(origin: string, before: readonly PinState[]): HelperPinRequest {
  const former = before.find((pin) => pin.origin === origin);
  const wasInEffect = former !== undefined && former.state !== 'lifted' && !isExpired(former);
  return wasInEffect ? { type: 'pin', ...renewedPin(former) } : { type: 'unpin', origin };
}

/** A pin with the lifetime that it has left. */
export function renewedPin({ origin, kind, expiresAtMs, persistent, allowLocal }: PinState): NewPin {
  const minutes =
    expiresAtMs === null ? null : Math.max(1, Math.ceil((expiresAtMs - Date.now()) / MINUTE_MS));
  return { origin, kind, minutes, persistent, allowLocal };
}

export function isExpired({ expiresAtMs }: PinState): boolean {
  return expiresAtMs !== null && expiresAtMs <= Date.now();
}

/** Whether a pin is the one that was planned and made for a session, and has not been lifted. */
export function isMadeAs({ origin, kind, persistent, state }: PinState, planned: PlannedPin): boolean {
  return state !== 'lifted' && !persistent && origin === planned.origin && kind === planned.kind;
}
