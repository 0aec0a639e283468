/**
 * What the extension's own pages (popup, panel) ask of the worker by `chrome.runtime.sendMessage`,
 * and what it answers. Nobody else may ask.
 */
import { originSchema, type PinState, pinKindSchema, pinMinutesSchema } from '@hopwise/contract';
import type { Protocol } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import type { StoredLoad } from '../storage/loads.ts';

const tabId = z.optional(z.int().check(z.nonnegative()));
const url = z.optional(z.string().check(z.maxLength(8192)));

/** Which load is meant: the last of a tab, or the newest of a page. */
const which = { tabId, url };

export const pageRequestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('latest'),
    ...which,
    /** Leave out the load itself: a recording may be large, and pages look often. */
    brief: z.optional(z.boolean()),
  }),
  z.object({
    type: z.literal('verify'),
    ...which,
    protocols: z.optional(z.array(z.enum(['h1', 'h2', 'h3'])).check(z.minLength(1), z.maxLength(3))),
    rounds: z.optional(z.int().check(z.gte(1), z.lte(20))),
    /** Most bytes to transfer in all; three times the page's when not given. */
    budgetBytes: z.optional(z.int().check(z.nonnegative())),
  }),
  z.object({ type: z.literal('verification'), ...which }),
  z.object({ type: z.literal('cancel-verification') }),
  z.object({ type: z.literal('export'), ...which }),
  z.object({ type: z.literal('forget-networks') }),
  z.object({
    type: z.literal('pins'),
    /** Ask the helper, which is started for it where it does not run. */
    fresh: z.optional(z.boolean()),
  }),
  z.object({
    type: z.literal('pin'),
    origin: originSchema,
    kind: pinKindSchema,
    minutes: pinMinutesSchema,
    persistent: z.boolean(),
  }),
  z.object({ type: z.literal('unpin'), origin: originSchema }),
]);

export type { StoredLoad };
export type PageRequest = z.infer<typeof pageRequestSchema>;
export type WhichLoad = { tabId?: number | undefined; url?: string | undefined };

export interface Refusal {
  ok: false;
  error: string;
}

export interface LatestAnswer {
  ok: true;
  /** `none`: no load was seen; `failed`: one was seen and could not be recorded, see `problem`. */
  phase: 'none' | 'loading' | 'recorded' | 'failed';
  problem: string;
  loadId: number | null;
  load: StoredLoad | null;
}

/** How far a verification is. */
export type VerificationState =
  | { state: 'none' }
  | {
      state: 'running';
      loadId: number;
      doneTransfers: number;
      allTransfers: number;
      protocol: Protocol | null;
      round: number;
    }
  | { state: 'done'; loadId: number }
  | {
      state: 'failed';
      loadId: number;
      /** `no-helper`, `protocol`, `timeout`, `interrupted`, or the helper's own code. */
      code: string;
      message: string;
    };

export type VerificationAnswer = { ok: true } & VerificationState;

export interface ExportAnswer {
  ok: true;
  export: LoadExport;
}

/** A load as a file for others. */
export interface LoadExport extends Omit<StoredLoad, 'id' | 'requestedUrl'> {
  format: 'hopwise-load';
  version: 1;
}

export interface PinsAnswer {
  ok: true;
  /** Whether the browser lets the extension pin at all, see `askToAllowPins`. */
  allowed: boolean;
  /** Those in force first, then those that were lifted and not dismissed. */
  pins: PinState[];
  /** Hosts that the local CA vouches for, which pins to a protocol take; null until the helper was asked. */
  vouched: string[] | null;
}

export interface Answers {
  latest: LatestAnswer | Refusal;
  verify: VerificationAnswer | Refusal;
  verification: VerificationAnswer | Refusal;
  'cancel-verification': VerificationAnswer | Refusal;
  export: ExportAnswer | Refusal;
  'forget-networks': { ok: true } | Refusal;
  pins: PinsAnswer | Refusal;
  pin: PinsAnswer | Refusal;
  unpin: PinsAnswer | Refusal;
}

/** Asks the worker. */
export function ask<T extends PageRequest>(request: T): Promise<Answers[T['type']]> {
  return chrome.runtime.sendMessage(request);
}
