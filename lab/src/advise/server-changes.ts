import type { AdviceKind } from '@hopwise/pageload-emulator';
import type { ServerChange } from '../client/lab.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { compressText, moveToOneOrigin } from './site-changes.ts';

/** Servers before any advice: Linux's and nginx's defaults. */
const USUAL: ServerChange = { congestionControl: 'cubic', initialWindow: 10, priorities: 'ignored' };

/** Advice that the lab's servers can follow by a setting. */
const SETTINGS = {
  'offer-h3': { altSvc: true },
  'withdraw-h3': { altSvc: false },
  'initial-window': { initialWindow: 32 },
  bbr: { congestionControl: 'bbr' },
  priorities: { priorities: 'honoured' },
} as const satisfies Partial<Record<AdviceKind, ServerChange>>;

/** Advice that other pages follow. */
const PAGES = {
  compression: compressText,
  'one-origin': moveToOneOrigin,
} as const satisfies Partial<Record<AdviceKind, (site: GeneratedSite) => GeneratedSite | null>>;

export type TestableAdvice = keyof typeof SETTINGS | keyof typeof PAGES;

export const TESTABLE = [...Object.keys(SETTINGS), ...Object.keys(PAGES)] as TestableAdvice[];

/** Advice that changes something at servers that offer HTTP/3, or at those that do not. */
export const testableAdvice = (offersH3: boolean): TestableAdvice[] =>
  TESTABLE.filter((kind) => kind !== (offersH3 ? 'offer-h3' : 'withdraw-h3'));

/** The settings of every server, with one advice followed or none. */
export function serversFollowing(advice: TestableAdvice | null, offersH3: boolean): ServerChange {
  const change = advice !== null && advice in SETTINGS ? SETTINGS[advice as keyof typeof SETTINGS] : {};
  return { ...USUAL, altSvc: offersH3, ...change };
}

/** The site with an advice followed by its pages; the same where settings of servers follow it, null where it does not apply. */
export function siteFollowing(advice: TestableAdvice, site: GeneratedSite): GeneratedSite | null {
  return advice in PAGES ? PAGES[advice as keyof typeof PAGES](site) : site;
}
