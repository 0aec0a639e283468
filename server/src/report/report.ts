/** `hopwise-server report`: what was learned, as one HTML file without scripts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { quantile } from '@hopwise/contract';
import { pageHead } from '@hopwise/extension/report';
import * as Plot from '@observablehq/plot';
import { Window } from 'happy-dom';
import { type LearnedState, USUAL_WINDOW } from '../learn/window-controller.ts';

/** Clusters that are shown, those with the most connections. */
const MAX_SHOWN = 40;
const WIDTH = 1080;
const ROW_HEIGHT = 22;

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
interface ShownWindow {
  cluster: string;
  window: number;
  connections: number;
  /** 80th percentile of the transfer time over that with the usual window; null where one of them is unknown. */
  p80Ratio: number | null;
  retransmitted: number;
  timedOut: number;
}

const COLUMNS = {
  cluster: ({ cluster }: ShownWindow) => cluster,
  window: ({ window }: ShownWindow) => String(window),
  connections: ({ connections }: ShownWindow) => String(connections),
  [`p80 over that of ${USUAL_WINDOW}`]: ({ p80Ratio }: ShownWindow) => p80Ratio?.toFixed(2) ?? '–',
  'sent again': ({ retransmitted }: ShownWindow) => `${(100 * retransmitted).toFixed(1)}%`,
  'with a timeout': ({ timedOut }: ShownWindow) => `${(100 * timedOut).toFixed(1)}%`,
};

/** Writes the page. Its texts are this file's own, hashes in base64url, and numbers: none needs to be escaped. */
export function renderReport(state: LearnedState): string {
  const windows = summariseClusters(state);
  const theme = readFileSync(createRequire(import.meta.url).resolve('@hopwise/extension/theme.css'), 'utf8');
  const tableRow = (cell: 'th' | 'td', texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${cell}>${text}</${cell}>`).join('')}</tr>`;
  const rows = windows.map((each) =>
    tableRow(
      'td',
      Object.values(COLUMNS).map((textOf) => textOf(each)),
    ),
  );
  const table = `<table>${tableRow('th', Object.keys(COLUMNS))}${rows.join('')}</table>`;
  const cards = {
    ...(windows.length > 0 && drawCharts(windows)),
    'Each window of each cluster': windows.length > 0 ? table : '<p>Nothing was learned yet.</p>',
  };
  return `${pageHead('hopwise-server: initial windows', `${theme}${STYLE}`)}
<body>
<main>
<h1>Initial windows by cluster of clients</h1>
<p class="hw-muted">Clusters are named by keyed hashes of their prefixes. Figures are those of the latest connections.</p>
${Object.entries(cards)
  .map(([title, content]) => `<section class="hw-card card"><h3>${title}</h3>${content}</section>`)
  .join('\n')}
</main>
</body>
</html>
`;
}

/** The windows that were tried in the clusters with the most connections, busiest first. */
function summariseClusters({ explorer, clusters }: LearnedState): ShownWindow[] {
  return Object.entries(clusters)
    .filter(([name]) => explorer[name] !== undefined)
    .sort(([, a], [, b]) => b.connections - a.connections)
    .slice(0, MAX_SHOWN)
    .flatMap(([cluster, { tallies }]) => {
      const { arms } = explorer[cluster]!;
      const timesOf = (window: string | number) => arms[window]?.map(({ relative }) => relative) ?? [];
      const usual = timesOf(USUAL_WINDOW);
      return Object.entries(tallies).map(([window, tally]) => {
        const own = timesOf(window);
        return {
          cluster,
          window: Number(window),
          connections: own.length,
          p80Ratio: own.length === 0 || usual.length === 0 ? null : quantile(own, 0.8) / quantile(usual, 0.8),
          retransmitted: tally.retransmitted / tally.connections,
          timedOut: tally.timedOut / tally.connections,
        };
      });
    });
}

/** Charts as SVG, by title. */
function drawCharts(windows: readonly ShownWindow[]): Record<string, string> {
  const clusters = [...new Set(windows.map(({ cluster }) => cluster))];
  const dom = new Window();
  try {
    // Plot uses standard features of the DOM only.
    const document = dom.document as unknown as Document;
    const draw = (x: 'p80Ratio' | 'retransmitted', label: string): string =>
      Plot.plot({
        document,
        width: WIDTH,
        height: ROW_HEIGHT * clusters.length + 70,
        marginLeft: 130,
        x: { label, grid: true, percent: x === 'retransmitted' },
        y: { label: null, domain: clusters },
        color: { type: 'ordinal', scheme: 'viridis', legend: false },
        marks: [
          Plot.ruleX(x === 'p80Ratio' ? [1] : [], { stroke: 'var(--hw-muted)' }),
          Plot.dot(windows, { x, y: 'cluster', fill: 'window', r: 4 }),
          Plot.text(windows, { x, y: 'cluster', text: 'window', dy: -9, fontSize: 9 }),
        ],
      }).outerHTML;
    return {
      '80th percentile of the transfer time, by window': draw(
        'p80Ratio',
        `over that with a window of ${USUAL_WINDOW}`,
      ),
      'Segments sent again, by window': draw('retransmitted', '%'),
    };
  } finally {
    dom.close();
  }
}
