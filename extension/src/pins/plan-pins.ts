import type { Action, PinKind } from '@hopwise/contract';
import { isLocalOrigin, isPinnable } from './pinnable-origin.ts';

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

/** The pin that carries out an action at one of its origins; null when that cannot be pinned. */
export function pinKindOf({ kind, assignment }: Action, origin: string): PinKind | null {
  if (!isPinnable(origin) || isLocalOrigin(origin)) return null;
  if (kind === 'avoid-h3') return kind;
  return kind === 'hold' && isName(new URL(origin).hostname) ? assignment[origin]! : null;
}

/** The local CA's name constraints cover DNS names only, not IP addresses. */
function isName(host: string): boolean {
  return !host.startsWith('[') && !/^[\d.]+$/.test(host);
}
