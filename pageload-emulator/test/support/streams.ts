import { ByteOrder } from '../../src/transport/head-of-line-blocking.ts';
import type { Stream } from '../../src/transport/stream.ts';

/** A response that its server has made and not begun to write. */
export function streamOf(id: number, bytes: number, urgency = 3, incremental = true): Stream {
  return {
    owner: { onData: () => {} },
    id,
    urgency,
    incremental,
    requestBytes: 100,
    responseBytes: bytes,
    thinkMs: 0,
    bodyMs: 0,
    inPartsBytes: 0,
    unmade: 0,
    unwritten: bytes,
    unsent: bytes,
    received: 0,
    order: new ByteOrder(),
    startMs: 0,
    sentMs: 0,
    firstByteMs: -1,
  };
}
