/** Requests about what the extension remembers, which its options page sends to the worker, with their answers. */
import * as z from 'zod/mini';
import { type Settings, settingsChangeSchema } from '../storage/settings.ts';
import type { Refusal } from './load-messages.ts';

export const memoryRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stored-data') }),
  z.object({ type: z.literal('erase-all') }),
  z.object({ type: z.literal('settings') }),
  z.object({ type: z.literal('change-settings'), change: settingsChangeSchema }),
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

/** What was erased. */
export interface Erased {
  /** Number of page loads. */
  loads: number;
  /** Number of verifications among them. */
  verifications: number;
  /** Whether a learned network was. */
  network: boolean;
}

/** Answer to each type of request. */
export interface MemoryAnswers {
  'erase-all': { ok: true; erased: Erased } | Refusal;
  settings: { ok: true; settings: Settings } | Refusal;
  /** `erased`: what the settings no longer allow. */
  'change-settings': { ok: true; settings: Settings; erased: Erased } | Refusal;
  'stored-data': { ok: true; stored: StoredData } | Refusal;
}

export function sendMemoryRequest<T extends MemoryRequest>(request: T): Promise<MemoryAnswers[T['type']]> {
  return chrome.runtime.sendMessage(request);
}
