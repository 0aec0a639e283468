/** Every request that the worker accepts from the extension's own pages. */
import * as z from 'zod/mini';
import { type AutopilotAnswers, autopilotRequestSchema } from '../autopilot/autopilot-messages.ts';
import { type LoadAnswers, loadRequestSchema } from '../messages/load-messages.ts';
import { type MemoryAnswers, memoryRequestSchema } from '../messages/memory-messages.ts';
import { type PinAnswers, pinRequestSchema } from '../pins/pin-messages.ts';

export const pageRequestSchema = z.discriminatedUnion('type', [
  loadRequestSchema,
  memoryRequestSchema,
  pinRequestSchema,
  autopilotRequestSchema,
]);

export type PageRequest = z.infer<typeof pageRequestSchema>;

/** Answer to each type of request. */
export type PageAnswers = LoadAnswers & MemoryAnswers & PinAnswers & AutopilotAnswers;
