import { networkKeySchema, originSchema, pinKindSchema } from '@hopwise/contract';
import type { ChoiceReason } from '@hopwise/model';
import * as z from 'zod/mini';

/**
 * Why a run ended.
 *
 * - `tried`: a trial had its load.
 * - `trouble`: the helper or a pin failed, or requests did.
 * - `slower`, `no-gain`: by measured loads.
 * - `unsure`: a load without the pins is needed to compare with.
 * - `you`: the user removed a pin, pinned its origins, or undid all.
 * - `off`: the autopilot, or what it may do, was switched off.
 * - `rule`: the user's rule for the site, the traffic or the network differs now.
 * - `network`: the browser is on another network.
 * - `network-open`: the network leaves UDP open now.
 * - `expired`: its time was over.
 * - `closed`: the browser was closed.
 * - `refused`: the pins could not be made.
 */
const END_CAUSES = [
  'tried',
  'trouble',
  'slower',
  'no-gain',
  'unsure',
  'you',
  'off',
  'rule',
  'network',
  'network-open',
  'expired',
  'closed',
  'refused',
] as const;

const TRIAL_REASONS = ['trial', 'explore'] as const satisfies ChoiceReason[];

export type EndCause = (typeof END_CAUSES)[number];

const times = z.array(z.number().check(z.positive())).check(z.maxLength(50));

/** Milliseconds since 1970. */
const time = z.number().check(z.nonnegative());

export const autopilotRunSchema = z.object({
  id: z.string(),
  madeAtMs: time,
  /** The page whose load led to it, with its query string as stored with the load; '' where the network alone did. */
  pageUrl: z.string().check(z.maxLength(8192)),
  /**
   * `decision`: a prediction promised a gain. `trial`: to learn from one load. `rule`: the user's rule for the site. `traffic`: the
   * user's rule for the kind of traffic and of network. `network`: UDP is hindered, or the user keeps HTTP/3 off on the network.
   */
  trigger: z.enum(['decision', 'trial', 'rule', 'traffic', 'network']),
  /**
   * Why a trial was made: because loads showed a change, or to stay informed, which is done at a bounded cost. Absent for others, and in runs
   * of an earlier version.
   */
  reason: z.optional(z.enum(TRIAL_REASONS)),
  pins: z.array(z.object({ origin: originSchema, kind: pinKindSchema })),
  /** Load times of later visits without and with the pins, milliseconds; null for rules, and where no server is known to offer HTTP/3. */
  predicted: z.nullable(z.object({ beforeMs: z.number(), afterMs: z.number() })),
  /**
   * Measured load times of the page, milliseconds, oldest first: of later visits without pins, and with these. What is compared with
   * where there was no later visit is predicted.
   */
  beforeMs: times,
  afterMs: times,
  /** Key of the network on which it was made; null for one that is not recognised, absent in runs of an earlier version. */
  networkKey: z.optional(z.nullable(networkKeySchema)),
  /** Loads with its pins since they were made, or since an origin was spared last. */
  heldLoads: z.optional(z.int()),
  /** The origin that may use HTTP/3 for now, so that it shows whether UDP is still hindered, and the loads that have been since; absent for none. */
  spared: z.optional(z.object({ origin: originSchema, loads: z.int() })),
  /** The last load that was looked at. */
  lastLoadId: z.int(),
  /** `checking`: the next loads decide whether it stays. `kept`: they have shown a gain. */
  state: z.enum(['checking', 'kept', 'ended']),
  /** When and why it ended; null before. */
  end: z.nullable(z.object({ atMs: time, cause: z.enum(END_CAUSES), reason: z.string() })),
});

/** Pins that the autopilot made together, with what was measured before and after. */
export type AutopilotRun = z.infer<typeof autopilotRunSchema>;

/** What a run is to be. */
export type PlannedRun = Pick<AutopilotRun, 'trigger' | 'reason' | 'pins' | 'predicted'>;

export const isRunning = ({ state }: AutopilotRun): boolean => state !== 'ended';

/** Whether a run keeps HTTP/3 off for every page on its network. */
export const isOfNetwork = ({ trigger }: AutopilotRun): boolean => trigger === 'network';

/** Whether a rule asked for a run, which is then not judged by load times. */
export const isByRule = ({ trigger }: Pick<AutopilotRun, 'trigger'>): boolean =>
  trigger === 'rule' || trigger === 'traffic' || trigger === 'network';
