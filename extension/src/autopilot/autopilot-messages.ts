/** Requests about the autopilot, which the options page sends to the worker, with their answers. */
import { networkKeySchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import { createSender, type OrRefusal } from '../messages/send-request.ts';
import { LEARNED_PLACES, type Learned } from './learning/learned.ts';
import type { AutopilotRun } from './runs/autopilot-run.ts';
import { type AutopilotSettings, autopilotChangeSchema } from './settings/autopilot-settings.ts';

export const autopilotRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('autopilot') }),
  z.object({ type: z.literal('change-autopilot'), change: autopilotChangeSchema }),
  /** Removes all pins that the autopilot made. */
  z.object({ type: z.literal('undo-autopilot') }),
  /** Keeps HTTP/3 off on the network that the browser is on, or allows it. */
  z.object({ type: z.literal('switch-network'), keepsOffH3: z.boolean() }),
  /** Forgets what loads on a network have shown. */
  z.object({
    type: z.literal('erase-learned'),
    key: z.nullable(networkKeySchema),
    place: z.enum(LEARNED_PLACES),
  }),
]);

export type AutopilotRequest = z.infer<typeof autopilotRequestSchema>;

export interface AutopilotAnswer {
  ok: true;
  settings: AutopilotSettings;
  /** Newest first. */
  runs: AutopilotRun[];
  /** What trials compare. */
  learned: Learned[];
  /** The network that the browser is on. */
  network: NetworkState;
}

export interface NetworkState {
  /** Whether it surely slows HTTP/3 down. */
  slowsH3: boolean;
  /** Whether one site alone has shown that it may. */
  isSuspected: boolean;
  /** Whether HTTP/3 is kept off on it. */
  keepsOffH3: boolean;
}

export type AutopilotAnswers = OrRefusal<Record<AutopilotRequest['type'], AutopilotAnswer>>;

export const sendAutopilotRequest = createSender<AutopilotRequest, AutopilotAnswers>();
