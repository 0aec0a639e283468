import { quantile } from '@hopwise/contract';
import { type LearnedState, USUAL_WINDOW } from '../learn/window-controller.ts';

/** Clusters in the report, those with the most connections. */
const MAX_SHOWN = 40;

/** What is known of a window in a cluster. */
export interface ShownWindow {
  cluster: string;
  window: number;
  connections: number;
  /** 80th percentile of the transfer time over that with the usual window; null where one of them is unknown. */
  p80Ratio: number | null;
  retransmitted: number;
  timedOut: number;
}

/** The clusters with the most connections, busiest first, with each window that was tried there. */
export function summariseClusters({ explorer, clusters }: LearnedState): ShownWindow[][] {
  return Object.entries(clusters)
    .filter(([name]) => explorer[name] !== undefined)
    .sort(([, a], [, b]) => b.connections - a.connections)
    .slice(0, MAX_SHOWN)
    .map(([cluster, { tallies }]) => {
      const { arms } = explorer[cluster]!;
      const p80 = (window: string | number): number | null => {
        const times = arms[window]?.map(({ relative }) => relative) ?? [];
        return times.length === 0 ? null : quantile(times, 0.8);
      };
      const usual = p80(USUAL_WINDOW);
      return Object.entries(tallies).map(([window, tally]) => {
        const own = p80(window);
        return {
          cluster,
          window: Number(window),
          connections: arms[window]?.length ?? 0,
          p80Ratio: own === null || usual === null ? null : own / usual,
          retransmitted: tally.retransmitted / tally.connections,
          timedOut: tally.timedOut / tally.connections,
        };
      });
    })
    .filter((windows) => windows.length > 0);
}
