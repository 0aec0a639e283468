import type { Verification } from '@hopwise/contract';
import type { DohServer, NameServer } from '../dns/dns-query.ts';
import { httpsRecords } from '../dns/https-record.ts';

export type HttpsRecord = Verification['origins'][number]['h3Offered']['httpsRecord'];

/** Concurrent lookups: some pages have hundreds of origins, and resolvers are shared. */
const AT_ONCE = 16;

/** Far more than records have. */
const MAX_PROTOCOLS = 32;

const UNKNOWN: HttpsRecord = {
  state: 'unknown',
  alpn: [],
  port: null,
  target: '',
  ech: false,
  detail: 'no answer came before the probe ended',
};

/** Looks up the HTTPS records of a page's origins concurrently with the probe, which does not wait for answers. */
export class RecordLookups {
  readonly #records = new Map<string, HttpsRecord>();

  /** @param signal aborts the lookups */
  constructor(origins: Iterable<string>, servers: readonly (NameServer | DohServer)[], signal: AbortSignal) {
    const waiting = [...origins];
    const work = async (): Promise<void> => {
      for (let origin = waiting.shift(); origin && !signal.aborted; origin = waiting.shift()) {
        this.#records.set(origin, await lookUp(origin, servers, signal));
      }
    };
    for (let worker = 0; worker < AT_ONCE; worker += 1) void work();
  }

  /** The result so far. */
  find(origin: string): HttpsRecord {
    return this.#records.get(origin) ?? UNKNOWN;
  }
}

async function lookUp(
  origin: string,
  servers: readonly (NameServer | DohServer)[],
  signal: AbortSignal,
): Promise<HttpsRecord> {
  try {
    const records = await httpsRecords(origin, servers, signal);
    const record = records.find(({ alpn }) => alpn.includes('h3')) ?? records[0];
    if (!record) return { ...UNKNOWN, state: 'absent', detail: '' };
    const { alpn, port, target, ech } = record;
    return { state: 'present', alpn: alpn.slice(0, MAX_PROTOCOLS), port, target, ech, detail: '' };
  } catch (fault) {
    if (signal.aborted) return UNKNOWN;
    return { ...UNKNOWN, detail: (fault as Error).message.slice(0, 256) };
  }
}
