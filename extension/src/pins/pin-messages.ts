/**
 * Requests about pins that the extension's own pages send to the worker by `chrome.runtime.sendMessage`, with their answers.
 */
import { MAX_PINS, originSchema, type PinState, pinKindSchema, pinMinutesSchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import type { PinOutcome } from '../evidence/pin-outcomes.ts';
import { createSender, type OrRefusal } from '../messages/send-request.ts';

export const pinRequestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('pins'),
    /** Ask the helper, which starts it if it is not running; otherwise the worker answers from what it knows. */
    fresh: z.optional(z.boolean()),
  }),
  /** Makes all of the pins, or none of them. */
  z.object({
    type: z.literal('pin'),
    pins: z
      .array(
        z.object({
          origin: originSchema,
          kind: pinKindSchema,
          /** Allows the origin to be pinned although it has no public address, from now on. */
          allowLocal: z.optional(z.boolean()),
        }),
      )
      .check(z.maxLength(MAX_PINS)),
    minutes: pinMinutesSchema,
    persistent: z.boolean(),
  }),
  z.object({
    type: z.literal('unpin'),
    origins: z.array(originSchema).check(z.maxLength(MAX_PINS)),
  }),
  /** Takes back `allowLocal`, which ends a pin that depends on it. */
  z.object({ type: z.literal('disallow-local'), origin: originSchema }),
  z.object({ type: z.literal('pin-outcomes') }),
]);

export type PinRequest = z.infer<typeof pinRequestSchema>;

/** How long new pins last: `minutes` is null for no end, and only persistent ones outlive the session. */
export type PinLifetime = Pick<Extract<PinRequest, { type: 'pin' }>, 'minutes' | 'persistent'>;

export interface PinsAnswer {
  ok: true;
  /** Whether the extension holds the permissions that pins need, see `requestPinPermissions`. */
  allowed: boolean;
  /** Active and waiting pins first, then lifted ones that the user has not dismissed. */
  pins: PinState[];
  /** Hosts covered by the local CA, which a pin to a protocol needs; null until the helper was asked. */
  caHosts: string[] | null;
  /** Absolute path of the helper's launcher; null until the helper was asked. */
  launcher: string | null;
  /** Origins that may be pinned although they have no public address. */
  localOrigins: string[];
}

/** Answer to each type of request. */
export type PinAnswers = OrRefusal<{
  pins: PinsAnswer;
  pin: PinsAnswer;
  unpin: PinsAnswer;
  'disallow-local': PinsAnswer;
  /** What the pins with loads before and after them have gained. */
  'pin-outcomes': { ok: true; outcomes: PinOutcome[] };
}>;

export const sendPinRequest = createSender<PinRequest, PinAnswers>();
