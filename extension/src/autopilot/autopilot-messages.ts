/** Requests about the autopilot, which the options page sends to the worker, with their answers. */
import { networkKeySchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import type { Refusal } from '../messages/load-messages.ts';
import type { Act } from './act.ts';
import { type AutopilotSettings, autopilotChangeSchema } from './autopilot-settings.ts';
import { LEARNT_PLACES, type Learnt } from './learnt.ts';

export const autopilotRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('autopilot') }),
  z.object({ type: z.literal('change-autopilot'), change: autopilotChangeSchema }),
  /** Removes all pins that the autopilot made. */
  z.object({ type: z.literal('undo-autopilot') }),
  /** Forgets what loads on a network have shown. */
  z.object({
    type: z.literal('erase-learnt'),
    key: z.nullable(networkKeySchema),
    place: z.enum(LEARNT_PLACES),
  }),
]);

export type AutopilotRequest = z.infer<typeof autopilotRequestSchema>;

export interface AutopilotAnswer {
  ok: true;
  settings: AutopilotSettings;
  /** Newest first. */
  acts: Act[];
  /** What trials compare. */
  learnt: Learnt[];
}

/** Answer to each type of request. */
export interface AutopilotAnswers {
  autopilot: AutopilotAnswer | Refusal;
  'change-autopilot': AutopilotAnswer | Refusal;
  'undo-autopilot': AutopilotAnswer | Refusal;
  'erase-learnt': AutopilotAnswer | Refusal;
}

/** A worker that the browser stops before it answers counts as a refusal. */
export function sendAutopilotRequest(request: AutopilotRequest): Promise<AutopilotAnswer | Refusal> {
  return chrome.runtime
    .sendMessage<AutopilotRequest, AutopilotAnswer | Refusal>(request)
    .catch((error: Error): Refusal => ({ ok: false, error: error.message }));
}
