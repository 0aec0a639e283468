/** Requests about what the extension remembers, which its options page sends to the worker, with their answers. */
import * as z from 'zod/mini';
import type { SavedTime } from '../storage/saved-time.ts';
import { type Settings, settingsChangeSchema } from '../storage/settings.ts';
import { createSender, type OrRefusal } from './send-request.ts';

export const memoryRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stored-data') }),
  z.object({ type: z.literal('saved-time') }),
  z.object({ type: z.literal('erase-all') }),
  z.object({ type: z.literal('settings') }),
  z.object({ type: z.literal('change-settings'), change: settingsChangeSchema }),
]);

type MemoryRequest = z.infer<typeof memoryRequestSchema>;

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
export type MemoryAnswers = OrRefusal<{
  'erase-all': { ok: true; erased: Erased };
  settings: { ok: true; settings: Settings };
  /** `erased`: what the settings no longer allow. */
  'change-settings': { ok: true; settings: Settings; erased: Erased };
  'stored-data': { ok: true; stored: StoredData };
  'saved-time': { ok: true; saved: SavedTime };
}>;

export const sendMemoryRequest = createSender<MemoryRequest, MemoryAnswers>();
