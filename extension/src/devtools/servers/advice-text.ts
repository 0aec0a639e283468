import { ADVISED_INITIAL_WINDOW, type AdviceKind, type ServerKind } from '@hopwise/pageload-emulator';
import { type PlainKey, t } from '../../language/translate.ts';

const CHANGES: Record<Exclude<AdviceKind, 'initial-window'>, PlainKey> = {
  'offer-h2': 'changeOfferH2',
  'offer-h3': 'changeOfferH3',
  'withdraw-h3': 'changeWithdrawH3',
  'https-record': 'changeHttpsRecord',
  'early-data': 'changeEarlyData',
  'start-rate': 'changeStartRate',
  bbr: 'changeBbr',
  'tls-1.3': 'changeTls13',
  priorities: 'changePriorities',
  'no-redirect': 'changeNoRedirect',
  'page-cache': 'changePageCache',
  compression: 'changeCompression',
  'one-origin': 'changeOneOrigin',
  preconnect: 'changePreconnect',
  preload: 'changePreload',
};

const CAVEATS: Partial<Record<AdviceKind, PlainKey>> = {
  'offer-h3': 'caveatOfferH3',
  'https-record': 'caveatHttpsRecord',
  'early-data': 'caveatEarlyData',
  'initial-window': 'caveatInitialWindow',
  'start-rate': 'caveatStartRate',
  bbr: 'caveatBbr',
  priorities: 'caveatPriorities',
  'no-redirect': 'caveatNoRedirect',
  'page-cache': 'caveatPageCache',
  'one-origin': 'caveatOneOrigin',
  preload: 'caveatPreload',
};

/** What to do, as a clause that begins with a capital. */
export const nameChange = (kind: AdviceKind): string =>
  kind === 'initial-window'
    ? t('changeInitialWindow', { packets: ADVISED_INITIAL_WINDOW })
    : t(CHANGES[kind]);

/** What to know before doing it; null where there is nothing. */
export function caveatOf(kind: AdviceKind): string | null {
  const key = CAVEATS[kind];
  return key === undefined ? null : t(key);
}

/** Names of servers are the same in every language. */
export const SERVER_NAMES: Record<ServerKind, string> = {
  nginx: 'nginx',
  caddy: 'Caddy',
  haproxy: 'HAProxy',
  kernel: 'Linux',
  dns: 'DNS',
};
