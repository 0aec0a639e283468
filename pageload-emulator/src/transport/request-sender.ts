import type { Transport } from '../network/packet.ts';
import type { ConnectionState } from './connection-state.ts';
import type { EventHandler } from './event-queue.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Stream } from './stream.ts';

/** The client's initial window, packets: Linux (RFC 6928) and Chromium's QUIC (`kInitialCongestionWindow`). */
export const REQUEST_WINDOW: Record<Transport, number> = { tcp: 10, quic: 32 };
/** Multiplicative decrease after a loss: Cubic's on both transports (RFC 9438 section 4.6). */
const BETA = 0.7;
const MIN_WINDOW = 2;
/** Retries of a request end after this, as a path that loses everything would never carry it. */
const MAX_WAIT_MS = 30_000;

/** The server's side. */
interface RequestReceiver {
  /** Answers a request whose last byte arrives at `requestArrivesMs`. */
  respond(stream: Stream, requestArrivesMs: number): void;
}

/** A request that takes several flights, and the bytes that remain to be sent. */
interface Upload {
  stream: Stream;
  bytes: number;
}

/**
 * The browser's sender of requests. A request that fits into the initial window leaves at once. A larger one takes several
 * round trips: slow start from the initial window, a reduction after a loss, then one more packet each round trip. A flight is
 * no larger than what the uplink carries in a round trip, so that other connections' packets come in between.
 */
export class RequestSender implements EventHandler {
  readonly #context: SimulationContext;
  readonly #connection: ConnectionState;
  readonly #server: RequestReceiver;
  readonly #initialWindow: number;
  #window = 0;
  #slowStart = true;
  #uploads = 0;
  #inOrderMs = 0;

  constructor(context: SimulationContext, connection: ConnectionState, server: RequestReceiver) {
    this.#context = context;
    this.#connection = connection;
    this.#server = server;
    this.#initialWindow = REQUEST_WINDOW[connection.transport];
    this.#window = this.#initialWindow;
  }

  /** Sends a request. @param notBeforeMs when the server can read it at the earliest: after the ClientHello */
  send(stream: Stream, notBeforeMs: number): void {
    const { id, packet, oneWayUpMs, timer } = this.#connection;
    const loss = this.#connection.loss.up;
    const packets = Math.max(1, Math.ceil(stream.requestBytes / packet.payloadBytes));
    if (packets > this.#initialWindow) {
      this.#uploads++;
      this.#sendFlight({ stream, bytes: stream.requestBytes });
      return;
    }
    let atMs = this.#serialise(stream.requestBytes, packets) + oneWayUpMs;
    let waitMs = timer.probeMs(1);
    let lost = loss.lostOf(packets);
    while (lost !== null && waitMs < MAX_WAIT_MS) {
      this.#context.trace?.lost(id, lost.length, 'random', this.#context.events.now);
      atMs += waitMs;
      waitMs *= 2;
      loss.settle();
      lost = loss.lostOf(lost.length);
    }
    this.#server.respond(stream, this.#inOrder(Math.max(atMs, notBeforeMs)));
  }

  handle(_kind: number, payload: unknown): void {
    this.#sendFlight(payload as Upload);
  }

  #sendFlight(upload: Upload): void {
    const { events, path, trace } = this.#context;
    const { up, rttMs } = path;
    const { id, packet, oneWayUpMs, loss, timer } = this.#connection;
    const { payloadBytes, overheadBytes } = packet;
    const packetMs = (payloadBytes + overheadBytes) / up.bytesPerMs;
    const roundTripMs = oneWayUpMs + rttMs / 2;
    const filling = Math.max(this.#initialWindow, Math.floor(roundTripMs / packetMs));
    const room = Math.max(1, Math.floor(Math.min(this.#window / this.#uploads, filling)));
    const packets = Math.min(room, Math.ceil(upload.bytes / payloadBytes));
    const bytes = Math.min(upload.bytes, packets * payloadBytes);
    const firstAckMs = Math.max(up.busyUntilMs, events.now) + packetMs + roundTripMs;
    const leavesMs = this.#serialise(bytes, packets);
    const lost = loss.up.lostOf(packets);
    const arrivesMs = this.#inOrder(leavesMs + oneWayUpMs);
    upload.bytes -= bytes;
    let noticedMs = Math.max(leavesMs, firstAckMs);
    if (lost === null) {
      this.#window = this.#slowStart ? 2 * this.#window : this.#window + 1;
    } else {
      trace?.lost(id, lost.length, 'random', events.now);
      upload.bytes += Math.min(bytes, lost.length * payloadBytes);
      this.#window = Math.max(MIN_WINDOW, BETA * this.#window);
      this.#slowStart = false;
      // No later packet shows that the last one is missing.
      if (lost[lost.length - 1] === packets - 1) noticedMs += timer.probeMs(lost.length);
    }
    if (upload.bytes > 0) {
      events.scheduleRare(noticedMs, this, 0, upload);
      return;
    }
    this.#uploads--;
    this.#server.respond(upload.stream, arrivesMs);
  }

  #serialise(bytes: number, packets: number): number {
    const { events, path } = this.#context;
    return path.up.serialise(events.now, bytes + packets * this.#connection.packet.overheadBytes);
  }

  /** Over TCP no request overtakes an earlier one. */
  #inOrder(atMs: number): number {
    if (this.#connection.transport === 'quic') return atMs;
    this.#inOrderMs = Math.max(atMs, this.#inOrderMs);
    return this.#inOrderMs;
  }
}
