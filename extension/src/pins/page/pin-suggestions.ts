import type { Action, Decision, PinKind } from '@hopwise/contract';
import { worthwhileActions } from '../../ui/origin-advice.ts';
import { isLocalOrigin, isPinnable } from '../pinnable-origin.ts';

/** An origin with the kind of its pin. */
export interface PlannedPin {
  origin: string;
  kind: PinKind;
  /** Whether the user allows it although it has no public address. */
  allowLocal?: boolean | undefined;
}

/** The pins that carry out an action of the browser, without origins that cannot be pinned. */
export function planPins(action: Action): PlannedPin[] {
  return action.origins.flatMap((origin) => {
    const kind = pinKindOf(action, origin);
    return kind === null ? [] : { origin, kind };
  });
}

/** Pins of one origin that would make the page load faster; that of the recommended action first. */
export function suggestPins(decision: Decision, origin: string): PinKind[] {
  const kinds = worthwhileActions(decision, origin).map((action) => pinKindOf(action, origin));
  return [...new Set(kinds.filter((kind) => kind !== null))];
}

/** Whether another suggested pin has the same effect without needing a CA. */
export function isRedundant(kind: PinKind, kinds: readonly PinKind[]): boolean {
  return kind === 'h2' && kinds.includes('avoid-h3');
}

function pinKindOf({ kind, assignment }: Action, origin: string): PinKind | null {
  if (!isPinnable(origin) || isLocalOrigin(origin)) return null;
  if (kind === 'avoid-h3') return kind;
  return kind === 'hold' && isName(new URL(origin).hostname) ? assignment[origin]! : null;
}

/** The local CA's name constraints cover DNS names only, not IP addresses. */
function isName(host: string): boolean {
  return !host.startsWith('[') && !/^[\d.]+$/.test(host);
}
