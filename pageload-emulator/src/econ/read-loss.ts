import { InputError } from '../util/input-error.ts';
import { lossByClimb } from './loss-by-climb.ts';
import { lossByRound } from './loss-by-round.ts';
import type { LossByWindow } from './loss-by-window.ts';
import { parsePcwnd, parsePcwndCounts } from './pcwnd-files.ts';

/**
 * Reads p(cwnd) from a file of either form: `cwnd,p`, as ECON's authors released it, or counts by window in JSON.
 *
 * @throws InputError whose message names the place and what was expected there
 */
export function readLossByWindow(text: string): LossByWindow {
  if (!text.trimStart().startsWith('{')) return lossByClimb(parsePcwnd(text));
  const counts = parsePcwndCounts(text);
  if (!counts.some(({ rounds }) => rounds > 0)) {
    throw new InputError('windows: expected at least one counted round, got none');
  }
  return lossByRound(counts);
}
