import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { compressibleBodies, withCompressedBodies } from './compression.ts';
import { documentOrigin, type ServedPage } from './document.ts';
import { lateOrigins, withPreconnects } from './late-origins.ts';
import { lateResources, withPreloads } from './late-resources.ts';
import { isMadeSlowly, withCachedDocument } from './page-cache.ts';
import { redirectingOrigins, withoutRedirects } from './redirects.ts';

/** What can be changed at a server. */
export type AdviceKind =
  | 'offer-h2'
  | 'offer-h3'
  | 'withdraw-h3'
  | 'https-record'
  | 'early-data'
  | 'initial-window'
  | 'start-rate'
  | 'bbr'
  | 'tls-1.3'
  | 'priorities'
  | 'no-redirect'
  | 'page-cache'
  | 'compression'
  | 'one-origin'
  | 'preconnect'
  | 'preload';

/** Visits that a change matters for: first ones, or later ones, which resume TLS sessions and know who offers HTTP/3. */
export type Visit = 'first' | 'later';

/** A change of servers that the emulator can judge. Its methods change nothing in place. */
export interface Improvement {
  kind: AdviceKind;
  /**
   * 1: a line of configuration. 2: a further service, or a look at whether the application bears it. 3: other software, or a change
   * of the pages.
   */
  effort: 1 | 2 | 3;
  visit: Visit;
  isPossibleAt(server: ServerProfile, page: ServedPage): boolean;
  changeServer?(server: ServerProfile, path: NetworkPath): ServerProfile;
  changeGraph?(page: ServedPage, origins: ReadonlySet<string>): PageGraph;
}

/**
 * Packets: QUIC servers begin with as many, and content networks with more than RFC 6928's 10 (Rüth and Hohlfeld, "Demystifying TCP
 * Initial Window Configurations of Content Distribution Networks", TMA 2018).
 */
export const ADVISED_INITIAL_WINDOW = 32;

const isHttps = ({ origin }: ServerProfile): boolean => origin.startsWith('https:');

/** Whether a page comes over http: it needs https before HTTP/2 and HTTP/3 (RFC 9114, section 3.1). */
export const isOverHttp = ({ recording }: Pick<ServedPage, 'recording'>): boolean =>
  recording.url.startsWith('http:');

/** What is tried, in the order of `AdviceKind`. */
export const IMPROVEMENTS: readonly Improvement[] = [
  {
    kind: 'offer-h2',
    effort: 1,
    visit: 'first',
    isPossibleAt: (server, page) => isHttps(server) && !isOverHttp(page) && !server.offers.h2,
    changeServer: (server) => ({ ...server, offers: { ...server.offers, h2: true } }),
  },
  {
    kind: 'offer-h3',
    effort: 2,
    visit: 'first',
    isPossibleAt: (server, page) => isHttps(server) && !isOverHttp(page) && !server.offers.h3,
    changeServer: (server) => ({ ...server, announcesH3: true, offers: { ...server.offers, h3: true } }),
  },
  {
    kind: 'withdraw-h3',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ offers }) => offers.h3 && (offers.h1 || offers.h2),
    changeServer: (server) => ({ ...server, offers: { ...server.offers, h3: false } }),
  },
  {
    kind: 'https-record',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ offers, h3Discovery }) => offers.h3 && h3Discovery !== 'https-record',
    changeServer: (server) => ({ ...server, h3Discovery: 'https-record' }),
  },
  {
    kind: 'early-data',
    effort: 2,
    visit: 'later',
    isPossibleAt: ({ offers, session }) => offers.h3 && session?.quic !== 'early-data',
    changeServer: (server) => ({ ...server, session: { ...server.session, quic: 'early-data' } }),
  },
  {
    kind: 'initial-window',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ tcp }) => tcp.initialWindow < ADVISED_INITIAL_WINDOW,
    changeServer: (server) => ({ ...server, tcp: { ...server.tcp, initialWindow: ADVISED_INITIAL_WINDOW } }),
  },
  {
    kind: 'start-rate',
    effort: 3,
    visit: 'later',
    isPossibleAt: ({ offers, quic }) => offers.h3 && quic.startBps === undefined,
    changeServer: (server, { downBps }) => ({ ...server, quic: { ...server.quic, startBps: downBps } }),
  },
  {
    kind: 'bbr',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ tcp }) => tcp.congestionControl !== 'bbr',
    changeServer: (server) => ({ ...server, tcp: { ...server.tcp, congestionControl: 'bbr' } }),
  },
  {
    kind: 'tls-1.3',
    effort: 1,
    visit: 'first',
    isPossibleAt: (server) => isHttps(server) && server.tlsVersion === '1.2',
    changeServer: (server) => ({ ...server, tlsVersion: '1.3' }),
  },
  {
    kind: 'priorities',
    effort: 3,
    visit: 'first',
    isPossibleAt: ({ offers, prioritises }) => (offers.h2 || offers.h3) && !prioritises,
    changeServer: (server) => ({ ...server, prioritises: true }),
  },
  {
    kind: 'no-redirect',
    effort: 1,
    visit: 'first',
    isPossibleAt: (server, page) => isHttps(server) && redirectingOrigins(page).has(server.origin),
    changeGraph: (page, origins) => withoutRedirects(page, origins),
  },
  {
    kind: 'page-cache',
    effort: 2,
    visit: 'first',
    isPossibleAt: ({ origin }, { graph }) => origin === documentOrigin(graph) && isMadeSlowly(graph),
    changeGraph: ({ graph }) => withCachedDocument(graph),
  },
  {
    kind: 'compression',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ origin }, page) => compressibleBodies(page, new Set([origin])).size > 0,
    changeGraph: (page, origins) => withCompressedBodies(page.graph, compressibleBodies(page, origins)),
  },
  {
    kind: 'one-origin',
    effort: 3,
    visit: 'first',
    isPossibleAt: (server, { graph }) => isHttps(server) && server.origin !== documentOrigin(graph),
    changeGraph: ({ graph }, origins) => withDocumentsOrigin(graph, origins),
  },
  {
    kind: 'preconnect',
    effort: 1,
    visit: 'first',
    isPossibleAt: ({ origin }, page) => origin === documentOrigin(page.graph) && lateOrigins(page).length > 0,
    changeGraph: (page) => withPreconnects(page.graph, lateOrigins(page)),
  },
  {
    kind: 'preload',
    effort: 2,
    visit: 'first',
    isPossibleAt: ({ origin }, page) =>
      origin === documentOrigin(page.graph) && lateResources(page).length > 0,
    changeGraph: (page) => withPreloads(page.graph, lateResources(page)),
  },
];

/**
 * The page with all resources of some origins served by the document's. Requests that went to another origin without credentials, such
 * as those for fonts and modules, have them then, and take no connection of their own (Fetch standard, "same-origin").
 */
function withDocumentsOrigin(graph: PageGraph, origins: ReadonlySet<string>): PageGraph {
  const target = graph.origins.indexOf(documentOrigin(graph));
  return {
    ...graph,
    activities: graph.activities.map((activity) =>
      activity.kind === 'fetch' && origins.has(graph.origins[activity.origin]!)
        ? { ...activity, origin: target, pool: 0 }
        : activity,
    ),
  };
}
