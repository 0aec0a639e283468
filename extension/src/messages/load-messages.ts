/**
 * Requests about page loads that the extension's own pages (popup, panel) send to the worker by `chrome.runtime.sendMessage`,
 * with their answers. The worker refuses every other sender. Requests about pins are in `pins/pin-messages.ts`.
 */
import type { Protocol } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import type { LoadQuality } from '../load/load-quality.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { createSender, type OrRefusal } from './send-request.ts';

const tabId = z.optional(z.int().check(z.nonnegative()));
const url = z.optional(z.string().check(z.maxLength(8192)));

/** Selects a load: the last one of a tab, or the newest one of a page. */
const which = { tabId, url };

export const loadRequestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('latest'),
    ...which,
    /** Leave out the load itself: a recording may be large, and pages poll often. */
    brief: z.optional(z.boolean()),
  }),
  z.object({
    type: z.literal('verify'),
    ...which,
    protocols: z.optional(z.array(z.enum(['h1', 'h2', 'h3'])).check(z.minLength(1), z.maxLength(3))),
    rounds: z.optional(z.int().check(z.gte(1), z.lte(20))),
    /** Upper limit of all bytes transferred; defaults to the page's for each kind of round, at least three times. */
    budgetBytes: z.optional(z.int().check(z.nonnegative())),
  }),
  z.object({ type: z.literal('verification'), ...which }),
  z.object({ type: z.literal('cancel-verification') }),
  z.object({
    type: z.literal('export'),
    ...which,
    /** Whether URLs have their query strings. */
    withQueries: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal('forget-networks') }),
]);

export type { StoredLoad };
export type LoadRequest = z.infer<typeof loadRequestSchema>;
export type WhichLoad = { tabId?: number | undefined; url?: string | undefined };

export interface LatestAnswer {
  ok: true;
  /** `none`: no load was observed; `failed`: one was observed but could not be recorded, see `problem`. */
  phase: 'none' | 'loading' | 'recorded' | 'failed';
  problem: string;
  loadId: number | null;
  load: StoredLoad | null;
  /** Whether the load can be exported with its query strings. */
  canExportQueries: boolean;
  /** What the tab's last load is when it does not show how long the page takes; `load` is then the last full one, if any. */
  incomplete: IncompleteLoad | null;
  /** What the pins of `load` gained; null when they were none, or when no load without them shows it. */
  pinGain: PinGain | null;
}

/** A load that is not a full one. */
export interface IncompleteLoad extends LoadQuality {
  /** Whether an earlier, full load is shown instead. */
  isReplaced: boolean;
}

/** Progress or outcome of a verification. */
export type VerificationState =
  | { state: 'none' }
  | {
      state: 'running';
      loadId: number;
      doneTransfers: number;
      allTransfers: number;
      /** What the rounds transfer under: one protocol, an assignment, or nothing yet. */
      protocol: Protocol | 'assigned' | 'starting';
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

type VerificationAnswer = { ok: true } & VerificationState;

/** A load as the file that "Export JSON" saves. */
export interface LoadExport extends Omit<StoredLoad, 'id' | 'requestedUrl' | 'storedAtMs' | 'networkKey'> {
  format: 'hopwise-load';
  version: 1;
}

/** Answer to each type of request. */
export type LoadAnswers = OrRefusal<{
  latest: LatestAnswer;
  verify: VerificationAnswer;
  verification: VerificationAnswer;
  'cancel-verification': VerificationAnswer;
  export: { ok: true; export: LoadExport };
  'forget-networks': { ok: true };
}>;

export const sendLoadRequest = createSender<LoadRequest, LoadAnswers>(['verify']);
