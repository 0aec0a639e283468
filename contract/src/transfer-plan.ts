import * as z from 'zod/mini';
import { count, httpsUrl, nonNegative, originSchema, protocolSchema, text } from './schemas.ts';

/** One GET of a transfer plan. */
const plannedTransfer = z.object({
  url: httpsUrl,
  /** Indices into the plan, all lower than this one's own. */
  after: z.array(count).check(z.maxLength(64)),
  /** Milliseconds between the end of the last of `after` and the request: the browser's processing. */
  delayMs: nonNegative,
  /** RFC 9218 urgency, 0 to 7. */
  urgency: z.int().check(z.gte(0), z.lte(7)),
  incremental: z.boolean(),
  /** Value of `Accept`, which servers' responses depend on. */
  accept: text(512),
  /** Expected response bytes, for the budget; 0 when not known. */
  bytes: count,
});

/** A page's resources in the order and with the delays of the page graph. */
export const transferPlanSchema = z.object({
  pageUrl: httpsUrl,
  userAgent: text(512),
  transfers: z.array(plannedTransfer).check(z.minLength(1), z.maxLength(5000)),
});

/** Maximum number of assignments in one verification: each costs as many bytes as a load of the page. */
export const MAX_ASSIGNMENTS = 4;

/** The protocols of one kind of round. */
export const plannedAssignmentSchema = z.object({
  /** By https origin: HTTP/2 where an origin is absent, the best older protocol where it does not speak its own. */
  assignment: z.record(originSchema, protocolSchema),
  /** Whether HTTP/3 is used only once an origin's `Alt-Svc` or its HTTPS record has offered it: a browser's first visit. */
  discoversH3: z.boolean(),
});

export type PlannedAssignment = z.infer<typeof plannedAssignmentSchema>;
export type PlannedTransfer = z.infer<typeof plannedTransfer>;
export type TransferPlan = z.infer<typeof transferPlanSchema>;
