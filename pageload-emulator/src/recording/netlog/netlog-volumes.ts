import type * as z from 'zod/mini';
import { eventSchema, isError, type NetLogEventName, SHORT_HEADER } from './netlog-events.ts';
import { ArrivedPackets } from './quic-packets.ts';

/** Kinds of events that come with every packet or part of a body, of which the sum and the last time are read. */
export const VOLUME_NAMES: ReadonlySet<NetLogEventName> = new Set([
  'URL_REQUEST_JOB_FILTERED_BYTES_READ',
  'HTTP_TRANSACTION_READ_BODY',
  'HTTP2_STREAM_UPDATE_RECV_WINDOW',
  'HTTP3_DATA_FRAME_RECEIVED',
  'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED',
]);

interface Volume {
  sum: z.infer<typeof eventSchema>;
  packets: ArrivedPackets;
}

/** Adds up events of one kind, request or session, and stream: most of a log is such events. */
export class NetLogVolumes {
  /** By request or session, and in it by kind and stream. */
  readonly #volumes = new Map<number, Map<string, Volume>>();

  /** @returns whether the event is one that can be added to others */
  add(event: unknown): boolean {
    const read = eventSchema.safeParse(event);
    if (!read.success) return false;
    const { source, type } = read.data;
    const params = read.data.params ?? {};
    const { stream_id, packet_number, header_format } = params;
    const key = `${type} ${stream_id ?? ''}`;
    const own = this.#volumes.get(source.id) ?? new Map<string, Volume>();
    this.#volumes.set(source.id, own);
    const known = own.get(key);
    const before = known?.sum.params ?? {};
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
        net_error: [before.net_error, params.net_error].find(isError),
      },
    };
    own.set(key, { sum, packets });
    return true;
  }

  /** Takes the sums of a request whose next event this is, as events; none where it is no event. */
  takeBefore(event: unknown): object[] {
    const id = eventSchema.safeParse(event).data?.source.id;
    const own = id === undefined ? undefined : this.#volumes.get(id);
    if (id === undefined || own === undefined) return [];
    this.#volumes.delete(id);
    return eventsOf(own);
  }

  /** All sums that were not taken, as events. */
  takeRest(): object[] {
    const rest = [...this.#volumes.values()].flatMap(eventsOf);
    this.#volumes.clear();
    return rest;
  }
}

const eventsOf = (volumes: ReadonlyMap<string, Volume>): object[] =>
  [...volumes.values()].map(({ sum, packets }) => ({
    ...sum,
    params: { ...sum.params, packet_ranges: packets.listRanges() },
  }));
