import { InputError, placeOf } from '../../util/input-error.ts';
import type { HarForm } from '../har/forms.ts';
import { objectOf } from '../har/values.ts';
import { NetLogConnections } from './netlog-connections.ts';
import { EntryWriter } from './netlog-entries.ts';
import { type NetLogEvent, readConstants, readEvents, SHORT_HEADER } from './netlog-events.ts';
import { hopsIn } from './netlog-hops.ts';
import { pagesIn } from './netlog-pages.ts';
import { ArrivedPackets, countPackets } from './quic-packets.ts';

/**
 * Reads a NetLog (`chrome://net-export`, `--log-net-log`) as the HAR that DevTools would have written of the same loads, as far as it
 * tells: it has neither events of pages nor initiators.
 *
 * @returns null for any other input
 * @throws InputError for a log that does not say what its numbers mean, or without a page's document: it began after the page, or is of
 *   other requests alone
 */
export function netLogAsHar(input: unknown): HarForm | null {
  const { constants, events: list } = objectOf(input) ?? {};
  if (!Array.isArray(list) || objectOf(constants) === null) return null;
  const known = readConstants(constants);
  if (known === null) {
    const place = placeOf(['constants', 'logEventTypes']);
    throw new InputError(`${place}: expected the numbers of a NetLog's events by name, got none`);
  }
  const events = readEvents(list, known);
  // What asked the cache alone, and found nothing there, is asked for again where it is needed.
  const hops = hopsIn(events, known.mainFrameFlag).filter(
    ({ error }) => error === null || known.errors.get(error) !== 'ERR_CACHE_MISS',
  );
  const connections = new NetLogConnections(events);
  const pages = pagesIn(hops, connections);
  const place = ['events'];
  if (pages.length === 0) {
    throw new InputError(
      `${placeOf(place)}: expected a page's document, got none: begin the log before the page is loaded`,
    );
  }
  const writer = new EntryWriter(events, hops, connections, known);
  const arrived = arrivedPackets(events);
  const date = (ms: number) => new Date(known.offsetMs + ms).toISOString();
  const written = pages.map(({ url, startMs, hops: own }, at) => {
    const id = `page_${at + 1}`;
    const sessions = new Set(own.flatMap(({ connectionId }) => connectionId ?? []));
    const packets = countPackets([...sessions].flatMap((session) => arrived.get(session) ?? []));
    return {
      page: { id, startedDateTime: date(startMs), title: url, _quicPackets: packets },
      entries: own.map((hop) => ({
        pageref: id,
        startedDateTime: date(hop.issuedMs),
        ...writer.write(hop),
      })),
    };
  });
  return {
    log: {
      creator: { name: 'Chromium NetLog', version: '' },
      browser: known.browser,
      pages: written.map(({ page }) => page),
      entries: written.flatMap(({ entries }) => entries),
    },
    place: [],
    entriesPlace: place,
  };
}

/** The packets that arrived over each QUIC session. */
function arrivedPackets(events: readonly NetLogEvent[]): Map<number, ArrivedPackets> {
  const arrived = new Map<number, ArrivedPackets>();
  for (const { name, sourceId, params } of events) {
    if (name !== 'QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED') continue;
    const packets = arrived.get(sourceId) ?? new ArrivedPackets();
    arrived.set(sourceId, packets);
    const { packet_number, header_format, packet_ranges = [] } = params;
    if (packet_number !== undefined && header_format === SHORT_HEADER)
      packets.add(packet_number, packet_number);
    for (const [first, last] of packet_ranges) packets.add(first, last);
  }
  return arrived;
}
