import type { Server } from '../../support/server.ts';
import type { HostileOrigin } from './hostile-browser.ts';
import { fieldSection, STATUS_200, STREAM_TYPE, settings, varint } from './http3-frames.ts';

/** What the server does on a connection, as `step` of `test/server/raw_http3.go` has it. */
export interface Step {
  /** The request's, unless it is the name of one of the server's unidirectional streams, which is opened when it is first named. */
  stream?: string;
  bytes?: Uint8Array;
  /** -1: without end. */
  times?: number;
  pauseMs?: number;
  after?: 'fin' | 'reset' | 'stop' | 'close';
  code?: number;
}

export interface Http3Answer {
  /** On connections made for it, in place of a sound control stream. */
  opening?: Step[];
  answer: Step[];
}

/** The control stream of a server that has nothing to say on it. */
export const SOUND_OPENING: Step[] = [
  { stream: 'control', bytes: Buffer.concat([varint(STREAM_TYPE.CONTROL), settings()]) },
];

const SOUND_LOOK: Step[] = [{ bytes: fieldSection(STATUS_200), after: 'fin' }];

export class HostileHttp3Origin implements HostileOrigin<Http3Answer> {
  readonly #server: Server;
  #opening = SOUND_OPENING;

  /** @param server one with `-raw-http3`. */
  constructor(server: Server) {
    this.#server = server;
  }

  get port(): number {
    return this.#server.port;
  }

  async show(shown: Http3Answer | null): Promise<void> {
    const opening = shown?.opening ?? SOUND_OPENING;
    // Connections that began otherwise show nothing of it.
    const renew = opening !== this.#opening;
    this.#opening = opening;
    await this.#server.set({
      opening: opening.map(written),
      answer: (shown?.answer ?? SOUND_LOOK).map(written),
      renew,
    });
  }
}

function written({ stream = 'request', bytes = Buffer.alloc(0), times = 1, ...more }: Step): unknown {
  return { stream, bytes: Buffer.from(bytes).toString('base64'), times, ...more };
}
