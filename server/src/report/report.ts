/** `hopwise-server report`: what was learned, as one HTML file without scripts. */
import { quantile } from '@hopwise/contract';
import { type Chart, toSvg, withDocument } from '@hopwise/lab/output/charts';
import { escapeHtml } from '@hopwise/lab/output/escape-html';
import { staticPage } from '@hopwise/lab/output/static-page';
import * as Plot from '@observablehq/plot';
import type { LearnedState } from '../learn/window-controller.ts';

/** Clusters in the report, those with the most connections. */
const MAX_SHOWN = 40;
const WIDTH = 1080;
const ROW_HEIGHT = 22;
const USUAL = '10';

const STYLE = `
main { display: grid; gap: 16px; max-width: 1160px; margin: 0 auto; padding: 28px 24px 40px; }
h1 { font-size: 20px; }
.card { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--hw-muted); text-align: left; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--hw-line); vertical-align: top; }
svg { display: block; max-width: 100%; height: auto; color: var(--hw-text); }
`;

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
      const p80 = (window: string): number | null => {
        const times = arms[window]?.map(({ relative }) => relative) ?? [];
        return times.length === 0 ? null : quantile(times, 0.8);
      };
      const usual = p80(USUAL);
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

export function renderReport(state: LearnedState): Promise<string> {
  const clusters = summariseClusters(state);
  const charts = clusters.length === 0 ? [] : drawCharts(clusters);
  const note =
    'Clusters are named by keyed hashes of their prefixes. Figures are those of the latest connections.';
  return staticPage(
    'hopwise-server: initial windows',
    STYLE,
    `<header><h1>Initial windows by cluster of clients</h1><p class="hw-muted">${note}</p></header>
${charts.map(({ title, svg }) => card(title, svg)).join('\n')}
${card('Each window of each cluster', clusters.length === 0 ? '<p>Nothing was learned yet.</p>' : tableOf(clusters))}`,
  );
}

const card = (title: string, content: string): string =>
  `<section class="hw-card card"><h3>${escapeHtml(title)}</h3>${content}</section>`;

/** The window with the lowest 80th percentile. */
const bestOf = (windows: readonly ShownWindow[]): ShownWindow =>
  windows.reduce((a, b) => ((b.p80Ratio ?? Infinity) < (a.p80Ratio ?? Infinity) ? b : a));

function drawCharts(clusters: readonly ShownWindow[][]): Chart[] {
  const windows = clusters.flat();
  const compared = windows.filter(({ p80Ratio }) => p80Ratio !== null);
  const height = ROW_HEIGHT * clusters.length + 70;
  const rows = clusters.map(([first]) => first!.cluster);
  const colour = { type: 'ordinal', scheme: 'viridis', legend: false } as const;
  return withDocument((document) => {
    const draw = (
      name: string,
      title: string,
      x: 'p80Ratio' | 'retransmitted',
      label: string,
      data: ShownWindow[],
    ) => ({
      name,
      title,
      svg: toSvg(
        Plot.plot({
          document,
          width: WIDTH,
          height,
          marginLeft: 130,
          x: { label, grid: true, ...(x === 'retransmitted' && { percent: true }) },
          y: { label: null, domain: rows },
          color: colour,
          marks: [
            ...(x === 'p80Ratio' ? [Plot.ruleX([1], { stroke: 'var(--hw-muted)' })] : []),
            Plot.dot(data, { x, y: 'cluster', fill: 'window', r: 4 }),
            Plot.text(data, {
              x,
              y: 'cluster',
              text: (one: ShownWindow) => String(one.window),
              dy: -9,
              fontSize: 9,
            }),
          ],
        }),
      ),
    });
    const counts = Plot.plot({
      document,
      width: WIDTH,
      height: 220,
      x: { label: 'window, segments', type: 'band' },
      y: { label: 'clusters', grid: true },
      marks: [
        Plot.barY(clusters.map(bestOf), Plot.groupX({ y: 'count' }, { x: 'window', fill: 'var(--hw-load)' })),
      ],
    });
    return [
      { name: 'windows', title: 'Clusters by the window that is best for them', svg: toSvg(counts) },
      draw(
        'times',
        '80th percentile of the transfer time, by window',
        'p80Ratio',
        `over that with a window of ${USUAL}`,
        compared,
      ),
      draw('losses', 'Segments sent again, by window', 'retransmitted', '%', windows),
    ];
  });
}

function tableOf(clusters: readonly ShownWindow[][]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  const rows = clusters
    .flat()
    .map(({ cluster, window, connections, p80Ratio, retransmitted, timedOut }) =>
      [
        cluster,
        String(window),
        String(connections),
        p80Ratio === null ? '–' : p80Ratio.toFixed(2),
        percent(retransmitted),
        percent(timedOut),
      ]
        .map((cell) => `<td>${escapeHtml(cell)}</td>`)
        .join(''),
    );
  const head = [
    'cluster',
    'window',
    'connections',
    `p80 over that of ${USUAL}`,
    'sent again',
    'with a timeout',
  ];
  return `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row}</tr>`).join('')}</tbody></table>`;
}
