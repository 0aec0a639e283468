import * as z from 'zod/mini';
import { type NetLogEventName, SHORT_HEADER } from './netlog-events.ts';
import { ArrivedPackets } from './quic-packets.ts';

/** Kinds of events that come with every packet or part of a body, of which the sum and the last time are read. */
export const VOLUME_NAMES: ReadonlySet<NetLogEventName> = new Set([
  'URL_REQUEST_JOB_FILTERED_BYTES_READ',
  'HTTP_TRANSACTION_READ_BODY',
  'HTTP2_STREAM_UPDATE_RECV_WINDOW',
  'HTTP3_DATA_FRAME_RECEIVED',
  'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED',
]);

const number = z.optional(z.number());
const volumeSchema = z.object({
  time: z.string(),
  type: z.number(),
  phase: number,
  source: z.object({ id: z.number() }),
  params: z.optional(
    z.object({
      stream_id: number,
      byte_count: number,
      payload_length: number,
      delta: number,
      packet_number: number,
      header_format: z.optional(z.string()),
    }),
  ),
});
type Volume = z.infer<typeof volumeSchema>;

/** Adds up events of one kind, request or session, and stream: most of a log is such events. */
export class NetLogVolumes {
  readonly #volumes = new Map<string, { sum: Volume; packets: ArrivedPackets }>();

  /** @returns whether the event is one that can be added to others */
  add(event: unknown): boolean {
    const read = volumeSchema.safeParse(event);
    if (!read.success) return false;
    const { source, type, params = {} } = read.data;
    const { stream_id, packet_number, header_format } = params;
    const key = `${source.id} ${type} ${stream_id ?? ''}`;
    const known = this.#volumes.get(key);
    const { params: before = {} } = known?.sum ?? {};
    const packets = known?.packets ?? new ArrivedPackets();
    const add = (field: 'byte_count' | 'payload_length') => (before[field] ?? 0) + (params[field] ?? 0);
    if (packet_number !== undefined && header_format === SHORT_HEADER)
      packets.add(packet_number, packet_number);
    const sum = {
      ...read.data,
      params: {
        stream_id,
        byte_count: add('byte_count'),
        payload_length: add('payload_length'),
        // What the reader took makes room again.
        delta: (before.delta ?? 0) + Math.min(0, params.delta ?? 0),
      },
    };
    this.#volumes.set(key, { sum, packets });
    return true;
  }

  /** The sums, as events. */
  events(): object[] {
    return [...this.#volumes.values()].map(({ sum, packets }) => ({
      ...sum,
      params: { ...sum.params, packet_ranges: packets.ranges() },
    }));
  }
}
