import * as z from 'zod/mini';
import type { NetLogEventName } from './netlog-events.ts';

/** Kinds of events that come with every part of a body, of which the sum and the last time are read. */
export const VOLUME_NAMES: ReadonlySet<NetLogEventName> = new Set([
  'URL_REQUEST_JOB_FILTERED_BYTES_READ',
  'HTTP_TRANSACTION_READ_BODY',
  'HTTP2_STREAM_UPDATE_RECV_WINDOW',
  'HTTP3_DATA_FRAME_RECEIVED',
]);

const bytes = z.optional(z.number());
const volumeSchema = z.object({
  time: z.string(),
  type: z.number(),
  phase: z.optional(z.number()),
  source: z.object({ id: z.number() }),
  params: z.optional(z.object({ stream_id: bytes, byte_count: bytes, payload_length: bytes, delta: bytes })),
});
type Volume = z.infer<typeof volumeSchema>;

/** Adds up events of one kind, request or session, and stream: most of a log is such events. */
export class NetLogVolumes {
  readonly #volumes = new Map<string, Volume>();

  /** @returns whether the event is one that can be added to others */
  add(event: unknown): boolean {
    const read = volumeSchema.safeParse(event);
    if (!read.success) return false;
    const { source, type, params = {} } = read.data;
    const key = `${source.id} ${type} ${params.stream_id ?? ''}`;
    const { params: before = {} } = this.#volumes.get(key) ?? {};
    const sum = (field: 'byte_count' | 'payload_length') => (before[field] ?? 0) + (params[field] ?? 0);
    this.#volumes.set(key, {
      ...read.data,
      params: {
        ...params,
        byte_count: sum('byte_count'),
        payload_length: sum('payload_length'),
        // What the reader took makes room again.
        delta: (before.delta ?? 0) + Math.min(0, params.delta ?? 0),
      },
    });
    return true;
  }

  /** The sums, as events. */
  events(): Volume[] {
    return [...this.#volumes.values()];
  }
}
