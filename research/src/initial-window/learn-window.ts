import { SeededRandom } from '@hopwise/lab/random';
import { type Arm, type Chosen, Explorer } from '@hopwise/model';
import { WINDOWS, type WindowExperiment } from './experiments.ts';

/** A request with the window that was learned, and one with 10 segments beside it. */
export interface WindowExchange {
  /** Number of the phase, from 0. */
  phase: number;
  window: number;
  reason: Chosen['reason'];
  /** From the request's last byte to the response's, milliseconds. */
  ms: number;
  usualMs: number;
}

/** Sends a request to a server with this initial window, and returns how long the answer took, milliseconds. */
export type Send = (window: number, phase: number, seed: number) => Promise<number>;

/** The window that servers have used since RFC 6928. */
export const USUAL_WINDOW = 10;

/**
 * Learns the initial window of one cluster of clients in a closed loop, by the 80th percentile as TCP WISE does. The server does not learn
 * of changes but from its responses.
 *
 * @param requests in each phase
 */
export async function learnWindow(
  { phases }: WindowExperiment,
  requests: number,
  seed: number,
  send: Send,
  onExchange: (exchange: WindowExchange) => void = () => undefined,
): Promise<WindowExchange[]> {
  const explorer = new Explorer();
  const random = new SeededRandom(seed);
  const arms = WINDOWS.map((window): Arm => ({ name: `${window}`, predicted: null }));
  const question = {
    clusters: ['clients'],
    scaleMs: 1,
    arms,
    objective: 'p80' as const,
    minGain: 0,
    random: () => random.fraction(),
  };
  const exchanges: WindowExchange[] = [];
  for (let index = 0; index < phases.length * requests; index++) {
    const phase = Math.floor(index / requests);
    const chosen = explorer.choose(question);
    const window = Number(chosen.arm);
    // In turns, so that drift of the machine affects both alike; with the same losses.
    const isOwnFirst = index % 2 === 0;
    const before = isOwnFirst ? await send(window, phase, seed + index) : null;
    const usualMs = await send(USUAL_WINDOW, phase, seed + index);
    const ms = before ?? (await send(window, phase, seed + index));
    explorer.note(question, chosen, ms);
    const exchange = { phase, window, reason: chosen.reason, ms, usualMs };
    exchanges.push(exchange);
    onExchange(exchange);
  }
  return exchanges;
}
