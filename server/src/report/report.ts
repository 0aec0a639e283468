/** `hopwise-server report`: what was learned, as one HTML file without scripts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pageHead } from '@hopwise/extension/report';
import * as Plot from '@observablehq/plot';
import { Window } from 'happy-dom';
import { type LearnedState, USUAL_WINDOW } from '../learn/window-controller.ts';
import { type ShownWindow, summariseClusters } from './summarise-clusters.ts';

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

const COLUMNS = {
  cluster: ({ cluster }: ShownWindow) => cluster,
  window: ({ window }: ShownWindow) => String(window),
  connections: ({ connections }: ShownWindow) => String(connections),
  [`p80 over that of ${USUAL_WINDOW}`]: ({ p80Ratio }: ShownWindow) => p80Ratio?.toFixed(2) ?? '–',
  'sent again': ({ retransmitted }: ShownWindow) => `${(100 * retransmitted).toFixed(1)}%`,
  'with a timeout': ({ timedOut }: ShownWindow) => `${(100 * timedOut).toFixed(1)}%`,
};

export function renderReport(state: LearnedState): string {
  const clusters = summariseClusters(state);
  const window = new Window();
  try {
    // Plot uses standard features of the DOM only.
    const document = window.document as unknown as Document;
    const main = document.createElement('main');
    const add = (parent: Element, name: string, text = '', className = ''): Element => {
      const element = document.createElement(name);
      element.textContent = text;
      if (className !== '') element.className = className;
      return parent.appendChild(element);
    };
    add(main, 'h1', 'Initial windows by cluster of clients');
    add(
      main,
      'p',
      'Clusters are named by keyed hashes of their prefixes. Figures are those of the latest connections.',
      'hw-muted',
    );
    for (const [title, chart] of clusters.length === 0 ? [] : drawCharts(document, clusters)) {
      const card = add(main, 'section', '', 'hw-card card');
      add(card, 'h3', title);
      card.appendChild(chart);
    }
    const card = add(main, 'section', '', 'hw-card card');
    add(card, 'h3', 'Each window of each cluster');
    if (clusters.length === 0) add(card, 'p', 'Nothing was learned yet.');
    else {
      const table = add(card, 'table');
      const head = add(table, 'tr');
      for (const name of Object.keys(COLUMNS)) add(head, 'th', name);
      for (const each of clusters.flat()) {
        const row = add(table, 'tr');
        for (const textOf of Object.values(COLUMNS)) add(row, 'td', textOf(each));
      }
    }
    const theme = readFileSync(
      createRequire(import.meta.url).resolve('@hopwise/extension/theme.css'),
      'utf8',
    );
    const head = pageHead('hopwise-server: initial windows', `${theme}${STYLE}`);
    return `${head}\n<body>\n${main.outerHTML}\n</body>\n</html>\n`;
  } finally {
    window.close();
  }
}

/** The window with the lowest 80th percentile. */
const bestOf = (windows: readonly ShownWindow[]): ShownWindow =>
  windows.reduce((a, b) => ((b.p80Ratio ?? Infinity) < (a.p80Ratio ?? Infinity) ? b : a));

function drawCharts(document: Document, clusters: readonly ShownWindow[][]): [title: string, Element][] {
  const windows = clusters.flat();
  const drawDots = (x: 'p80Ratio' | 'retransmitted', label: string, data: ShownWindow[]) =>
    Plot.plot({
      document,
      width: WIDTH,
      height: ROW_HEIGHT * clusters.length + 70,
      marginLeft: 130,
      x: { label, grid: true, percent: x === 'retransmitted' },
      y: { label: null, domain: clusters.map(([first]) => first!.cluster) },
      color: { type: 'ordinal', scheme: 'viridis', legend: false },
      marks: [
        ...(x === 'p80Ratio' ? [Plot.ruleX([1], { stroke: 'var(--hw-muted)' })] : []),
        Plot.dot(data, { x, y: 'cluster', fill: 'window', r: 4 }),
        Plot.text(data, { x, y: 'cluster', text: 'window', dy: -9, fontSize: 9 }),
      ],
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
  const compared = windows.filter(({ p80Ratio }) => p80Ratio !== null);
  return [
    ['Clusters by the window that is best for them', counts],
    [
      '80th percentile of the transfer time, by window',
      drawDots('p80Ratio', `over that with a window of ${USUAL_WINDOW}`, compared),
    ],
    ['Segments sent again, by window', drawDots('retransmitted', '%', windows)],
  ];
}
