import { strFromU8, strToU8 } from 'fflate';
import { objectOf } from '../har/values.ts';
import { EventBytes } from '../json/event-bytes.ts';
import { type NetLogEventName, readConstants } from './netlog-events.ts';
import { NetLogVolumes, VOLUME_NAMES } from './netlog-volumes.ts';

/**
 * Leaves out of a NetLog, which comes piece by piece, all events that are not read, and adds up those that come with every part of a body:
 * a log has several events for every packet. The log of a browser that was killed has no end: it ends after its last whole event.
 */
export class NetLogBytes {
  readonly #events: EventBytes;
  readonly #volumes = new NetLogVolumes();
  /** Pieces of what comes before the events, until the first of them has been read. */
  #head: Uint8Array[] | null = [];
  /** What the numbers of events mean that are read; null where the log does not begin by saying so. */
  #names: ReadonlyMap<number, NetLogEventName> | null = null;

  /** @param take gets what is kept of the log's JSON, in pieces */
  constructor(take: (bytes: Uint8Array) => void) {
    this.#events = new EventBytes(
      {
        list: 'events',
        kindField: 'type',
        keep: (kind, event) => this.#keep(kind, event),
        more: () => this.#volumes.takeRest().map(writeEvent),
      },
      (bytes) => {
        this.#head?.push(bytes.slice());
        take(bytes);
      },
    );
  }

  add(bytes: Uint8Array): void {
    this.#events.add(bytes);
  }

  end(): void {
    this.#events.end();
  }

  #keep(kind: string, event: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
    if (this.#head !== null) {
      const { constants } = objectOf(jsonIn([...this.#head, strToU8(']}')])) ?? {};
      this.#head = null;
      this.#names = readConstants(constants)?.names ?? null;
    }
    if (this.#names === null) return [event];
    const name = this.#names.get(Number(kind));
    if (name === undefined) return [];
    if (VOLUME_NAMES.has(name)) return this.#volumes.add(jsonIn(event)) ? [] : [event];
    // What came so far belongs to the hop before.
    return name === 'URL_REQUEST_START_JOB'
      ? [...this.#volumes.takeBefore(jsonIn(event)).map(writeEvent), event]
      : [event];
  }
}

const writeEvent = (event: object): Uint8Array[] => [strToU8(JSON.stringify(event))];

/** The value of a text, in pieces, that should be JSON; undefined where it is none, which is refused when the whole is read. */
function jsonIn(pieces: readonly Uint8Array[]): unknown {
  const text = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    text.set(piece, at);
    at += piece.length;
  }
  try {
    return JSON.parse(strFromU8(text));
  } catch {
    return undefined;
  }
}
