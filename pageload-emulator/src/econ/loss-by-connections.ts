import type { LossByWindow } from './loss-by-window.ts';

/** ECON's p(cwnd, npc): loss by window, by the number of connections that load the bottleneck at once. */
export type LossByConnections = (connections: number) => LossByWindow;

/**
 * Chooses what was measured with the nearest number of connections, by their ratio. ECON measured 1, 2,
 * 4, 6 and 10.
 *
 * @throws RangeError for none
 */
export function lossByConnections(measured: ReadonlyMap<number, LossByWindow>): LossByConnections {
  const known = [...measured].sort(([a], [b]) => a - b);
  if (known.length === 0) throw new RangeError('expected loss for at least one number of connections');
  return (connections) => {
    const distance = (other: number) => Math.abs(Math.log(other / Math.max(1, connections)));
    return known.reduce((best, one) => (distance(one[0]) < distance(best[0]) ? one : best))[1];
  };
}
