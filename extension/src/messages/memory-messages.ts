/** Requests about what the extension remembers, which its options page sends to the worker, with their answers. */
import * as z from 'zod/mini';
import type { Refusal } from './load-messages.ts';

export const memoryRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stored-data') }),
]);

export type MemoryRequest = z.infer<typeof memoryRequestSchema>;

/** How much is stored. */
export interface StoredData {
  /** Number of page loads. */
  loads: number;
  /** Size of the page loads as JSON text in UTF-8. */
  bytes: number;
  /** When the oldest was recorded, milliseconds since 1970; null without loads. */
  oldestMs: number | null;
}

/** Answer to each type of request. */
export interface MemoryAnswers {
  'stored-data': { ok: true; stored: StoredData } | Refusal;
}

export function sendMemoryRequest<T extends MemoryRequest>(request: T): Promise<MemoryAnswers[T['type']]> {
  return chrome.runtime.sendMessage(request);
}
