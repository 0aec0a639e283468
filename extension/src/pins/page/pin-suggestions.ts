import type { Decision, PinKind } from '@hopwise/contract';
import { worthwhileActions } from '../../ui/origin-advice.ts';
import { pinKindOf } from '../plan-pins.ts';

/** Pins of one origin that would make the page load faster; that of the recommended action first. */
export function suggestPins(decision: Decision, origin: string): PinKind[] {
  const kinds = worthwhileActions(decision, origin).map((action) => pinKindOf(action, origin));
  return [...new Set(kinds.filter((kind) => kind !== null))];
}

/** Whether another suggested pin has the same effect without needing a CA. */
export function isRedundant(kind: PinKind, kinds: readonly PinKind[]): boolean {
  return kind === 'h2' && kinds.includes('avoid-h3');
}
