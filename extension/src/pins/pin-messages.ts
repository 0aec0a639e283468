/**
 * Requests about pins that the extension's own pages send to the worker by `chrome.runtime.sendMessage`, with their answers.
 */
import { originSchema, type PinState, pinKindSchema, pinMinutesSchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import type { PinOutcome } from '../evidence/pin-outcomes.ts';
import type { Refusal } from '../messages/load-messages.ts';

export const pinRequestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('pins'),
    /** Ask the helper, which starts it if it is not running; otherwise the worker answers from what it knows. */
    fresh: z.optional(z.boolean()),
  }),
  z.object({
    type: z.literal('pin'),
    origin: originSchema,
    kind: pinKindSchema,
    minutes: pinMinutesSchema,
    persistent: z.boolean(),
    /** Allows the origin to be pinned although it has no public address, from now on. */
    allowLocal: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal('unpin'), origin: originSchema }),
  /** Takes back `allowLocal`, which ends a pin that depends on it. */
  z.object({ type: z.literal('disallow-local'), origin: originSchema }),
  z.object({ type: z.literal('pin-outcomes') }),
]);

export type PinRequest = z.infer<typeof pinRequestSchema>;

export interface PinsAnswer {
  ok: true;
  /** Whether the extension holds the permissions that pins need, see `requestPinPermissions`. */
  allowed: boolean;
  /** Active and waiting pins first, then lifted ones that the user has not dismissed. */
  pins: PinState[];
  /** Hosts covered by the local CA, which a pin to a protocol needs; null until the helper was asked. */
  vouched: string[] | null;
  /** Absolute path of the helper's launcher; null until the helper was asked. */
  launcher: string | null;
  /** Origins that may be pinned although they have no public address. */
  localOrigins: string[];
}

export interface PinOutcomesAnswer {
  ok: true;
  /** Of the pins with loads before and after them. */
  outcomes: PinOutcome[];
}

/** Answer to each type of request. */
export interface PinAnswers {
  pins: PinsAnswer | Refusal;
  pin: PinsAnswer | Refusal;
  unpin: PinsAnswer | Refusal;
  'disallow-local': PinsAnswer | Refusal;
  'pin-outcomes': PinOutcomesAnswer | Refusal;
}

/** A worker that the browser stops before it answers counts as a refusal. */
export function sendPinRequest<T extends PinRequest>(request: T): Promise<PinAnswers[T['type']] | Refusal> {
  return chrome.runtime
    .sendMessage<PinRequest, PinAnswers[T['type']] | Refusal>(request)
    .catch((error: Error): Refusal => ({ ok: false, error: error.message }));
}
