import type { AdviceKind } from '@hopwise/pageload-emulator';
import type { ServerChange } from '../client/lab.ts';

/** Servers before any advice: Linux's and nginx's defaults. */
const USUAL: ServerChange = { congestionControl: 'cubic', initialWindow: 10, priorities: 'ignored' };

/** Advice that the lab's servers can follow. */
export const TESTABLE = [
  'offer-h3',
  'withdraw-h3',
  'initial-window',
  'bbr',
  'priorities',
] as const satisfies AdviceKind[];
export type TestableAdvice = (typeof TESTABLE)[number];

const CHANGES: Record<TestableAdvice, ServerChange> = {
  'offer-h3': { altSvc: true },
  'withdraw-h3': { altSvc: false },
  'initial-window': { initialWindow: 32 },
  bbr: { congestionControl: 'bbr' },
  priorities: { priorities: 'honoured' },
};

/** Advice that changes something at servers that offer HTTP/3, or at those that do not. */
export const testableAdvice = (offersH3: boolean): TestableAdvice[] =>
  TESTABLE.filter((kind) => kind !== (offersH3 ? 'offer-h3' : 'withdraw-h3'));

/** The settings of every server, with one advice followed or none. */
export function serversFollowing(advice: TestableAdvice | null, offersH3: boolean): ServerChange {
  return { ...USUAL, altSvc: offersH3, ...(advice && CHANGES[advice]) };
}
