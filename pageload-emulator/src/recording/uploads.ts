import type { RecordedRequest } from '@hopwise/contract';
import { PACKET, type Transport } from '../network/packet.ts';

/** What a connection sends of a body at once, as long as it does not know the uplink: RFC 6928's initial window. */
const FLIGHT_BYTES = 10 * PACKET.tcp.payloadBytes;
/** Of more uploads beside each other only these count, to bound the time that it takes to find them. */
const MAX_UPLOADS = 500;

/** What the uplink carried for one request. */
export interface Uploaded {
  /** Bytes of bodies that left until the request's last byte had, its own body included. */
  bytes: number;
  /** Bytes of bodies that its connection had carried before, from which it knows the uplink. */
  beforeBytes: number;
}

/**
 * Returns what the uplink carried for each request, by `RecordedRequest.id`. Requests that are sent at the same time share it: as much of each
 * other body leaves meanwhile as of the own one, and a flight at least. Requests without phases, and without a body in the time of any upload, are left out.
 */
export function findUploads(requests: readonly RecordedRequest[]): ReadonlyMap<number, Uploaded> {
  const bodies = requests.flatMap(({ id, connectionId, requestBodyBytes, phases }) => {
    const { requestStartMs: fromMs, responseStartMs: toMs } = phases;
    return requestBodyBytes && fromMs !== null && toMs !== null && toMs > fromMs
      ? [{ id, connectionId, bytes: requestBodyBytes, fromMs, toMs }]
      : [];
  });
  const uploads = bodies.slice(0, MAX_UPLOADS);
  const found = new Map<number, Uploaded>();
  if (uploads.length === 0) return found;
  for (const { id, connectionId, requestBodyBytes, phases } of requests) {
    const { requestStartMs, responseStartMs } = phases;
    if (requestStartMs === null || responseStartMs === null) continue;
    const own = requestBodyBytes ?? 0;
    let bytes = own;
    let beforeBytes = 0;
    for (const other of uploads) {
      if (other.id === id) continue;
      const besideMs = Math.min(other.toMs, responseStartMs) - Math.max(other.fromMs, requestStartMs);
      const beside = (other.bytes * besideMs) / (other.toMs - other.fromMs);
      if (besideMs > 0) bytes += Math.min(beside, Math.max(own, FLIGHT_BYTES));
      else if (other.toMs <= requestStartMs && connectionId !== null && other.connectionId === connectionId)
        beforeBytes += other.bytes;
    }
    if (bytes > 0) found.set(id, { bytes, beforeBytes });
  }
  return found;
}

export const transportOf = ({ protocol }: RecordedRequest): Transport => (protocol === 'h3' ? 'quic' : 'tcp');
