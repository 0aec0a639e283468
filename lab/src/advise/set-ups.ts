/** How a page is served and visited, before and after each advice. */
import type { AdviceKind, HeadLink } from '@hopwise/pageload-emulator';
import type { SiteServerChange } from '../client/lab.ts';
import type { ServerStack } from '../client/server-stack.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import {
  announce,
  compressText,
  delayPage,
  forbidCaching,
  moveToOneOrigin,
  redirectToEntry,
} from './site-changes.ts';

interface SetUp {
  /** What changes at all servers. */
  servers: SiteServerChange;
  /**
   * The page's copy; null where there is nothing to change. The page as it is when absent.
   *
   * @param preloads what advice would announce in its head
   */
  changeSite?(site: GeneratedSite, preloads: readonly HeadLink[]): GeneratedSite | null;
  /** `warm` is a second visit, to servers that have closed their connections. `cold` when absent. */
  view?: 'cold' | 'warm';
  /** Whether the names of the hosts have HTTPS records that offer HTTP/3 (RFC 9460). */
  hasRecords?: true;
}

/** Linux's and nginx's defaults, without HTTP/3. */
const USUAL: SiteServerChange = {
  congestionControl: 'cubic',
  initialWindow: 10,
  priorities: 'ignored',
  altSvc: false,
  tlsVersion: '1.3',
  earlyData: false,
};
const OFFERS_H3: SiteServerChange = { ...USUAL, altSvc: true };

const SET_UP_LIST = {
  usual: { servers: USUAL },
  'offers-h3': { servers: OFFERS_H3 },
  'https-record': { servers: OFFERS_H3, hasRecords: true },
  'later-visit': { servers: OFFERS_H3, view: 'warm', changeSite: forbidCaching },
  'early-data': { servers: { ...OFFERS_H3, earlyData: true }, view: 'warm', changeSite: forbidCaching },
  http1: { servers: { ...USUAL, protocols: ['h1'] } },
  redirecting: { servers: USUAL, changeSite: redirectToEntry },
  'slow-page': { servers: USUAL, changeSite: delayPage },
  'tls-1.2': { servers: { ...USUAL, tlsVersion: '1.2' } },
  'initial-window': { servers: { ...USUAL, initialWindow: 32 } },
  bbr: { servers: { ...USUAL, congestionControl: 'bbr' } },
  priorities: { servers: { ...USUAL, priorities: 'honoured' } },
  compression: { servers: USUAL, changeSite: compressText },
  'one-origin': { servers: USUAL, changeSite: moveToOneOrigin },
  preload: { servers: USUAL, changeSite: announce },
} as const satisfies Record<string, SetUp>;

export type SetUpName = keyof typeof SET_UP_LIST;
export const SET_UPS: Record<SetUpName, SetUp> = SET_UP_LIST;
export const SET_UP_NAMES = Object.keys(SET_UPS) as SetUpName[];

/**
 * What each advice changes. Connections that a head announces are missing: Chromium does not open them in private windows, which the
 * loads are made in.
 */
export const EXPERIMENTS = {
  'offer-h2': { before: 'http1', after: 'usual' },
  'offer-h3': { before: 'usual', after: 'offers-h3' },
  'withdraw-h3': { before: 'offers-h3', after: 'usual' },
  'https-record': { before: 'offers-h3', after: 'https-record' },
  'early-data': { before: 'later-visit', after: 'early-data' },
  'initial-window': { before: 'usual', after: 'initial-window' },
  bbr: { before: 'usual', after: 'bbr' },
  'tls-1.3': { before: 'tls-1.2', after: 'usual' },
  priorities: { before: 'usual', after: 'priorities' },
  'no-redirect': { before: 'redirecting', after: 'usual' },
  'page-cache': { before: 'slow-page', after: 'usual' },
  compression: { before: 'usual', after: 'compression' },
  'one-origin': { before: 'usual', after: 'one-origin' },
  preload: { before: 'usual', after: 'preload' },
} as const satisfies Partial<Record<AdviceKind, { before: SetUpName; after: SetUpName }>>;

export type TestableAdvice = keyof typeof EXPERIMENTS;

export const TESTABLE = Object.keys(EXPERIMENTS) as TestableAdvice[];

/** nginx and quiche of the lab follow priorities always, offer every protocol, and have neither TLS 1.2 nor early data. */
const FOR_GO_ONLY: ReadonlySet<TestableAdvice> = new Set(['offer-h2', 'early-data', 'tls-1.3', 'priorities']);

/** The advice that servers of a stack can follow. */
export const testableOn = (stack: ServerStack): TestableAdvice[] =>
  TESTABLE.filter((kind) => stack === 'go' || !FOR_GO_ONLY.has(kind));

/** Settings of all servers of a stack in a set-up. */
export function serversIn(name: SetUpName, stack: ServerStack): SiteServerChange {
  const { servers } = SET_UPS[name];
  if (stack === 'go') return servers;
  const { congestionControl, initialWindow, altSvc } = servers;
  return { congestionControl, initialWindow, altSvc, priorities: 'honoured' };
}

/** The set-up whose recording the advice is given by: always of a first visit, as later ones may not show the network. */
export function recordedWith(kind: TestableAdvice): SetUpName {
  const { before } = EXPERIMENTS[kind];
  return before === 'later-visit' ? 'offers-h3' : before;
}

/** The set-ups that some advice takes, without repetition. */
export function setUpsFor(kinds: readonly TestableAdvice[]): SetUpName[] {
  return [...new Set(kinds.flatMap((kind) => [EXPERIMENTS[kind].before, EXPERIMENTS[kind].after]))];
}
