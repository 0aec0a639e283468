import type { RecordedRequest } from '@hopwise/contract';
import { PACKET, type Transport } from '../network/packet.ts';

/** What a connection sends of a body at once, as long as it does not know the uplink: RFC 6928's initial window. */
const FLIGHT_BYTES = 10 * PACKET.tcp.payloadBytes;
/** Of more uploads beside each other only these count, to bound the time that it takes to find them. */
const MAX_UPLOADS = 500;

/**
 * Returns the bytes of bodies that left until the last byte of each request had, its own body included, by `RecordedRequest.id`. Requests that
 * are sent at the same time share the uplink: as much of each other body leaves as of the own one, and a flight at least. Requests without
 * phases, and without a body in the time of any upload, are left out.
 */
export function uploadedBytes(requests: readonly RecordedRequest[]): ReadonlyMap<number, number> {
  const bodies = requests.flatMap(({ id, requestBodyBytes, phases: { requestStartMs, responseStartMs } }) =>
    requestBodyBytes && requestStartMs !== null && responseStartMs !== null
      ? [{ id, bytes: requestBodyBytes, fromMs: requestStartMs, toMs: responseStartMs }]
      : [],
  );
  const uploads = bodies.slice(0, MAX_UPLOADS);
  const sent = new Map<number, number>();
  if (uploads.length === 0) return sent;
  for (const { id, requestBodyBytes, phases } of requests) {
    const { requestStartMs, responseStartMs } = phases;
    if (requestStartMs === null || responseStartMs === null) continue;
    const own = requestBodyBytes ?? 0;
    let bytes = own;
    for (const other of uploads) {
      const isBeside = other.id !== id && other.fromMs <= responseStartMs && requestStartMs <= other.toMs;
      if (isBeside) bytes += Math.min(other.bytes, Math.max(own, FLIGHT_BYTES));
    }
    if (bytes > 0) sent.set(id, bytes);
  }
  return sent;
}

export const transportOf = ({ protocol }: RecordedRequest): Transport => (protocol === 'h3' ? 'quic' : 'tcp');
