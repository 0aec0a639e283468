/** Charts of a summary as SVG, drawn without a browser. */

import * as Plot from '@observablehq/plot';
import { fileNamePart } from '../command/write-file.ts';
import type { GroundTruthMatrix, LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { type Chart, toSvg, withDocument } from '../output/charts.ts';
import { LOAD_PROTOCOL_NAME, LOAD_PROTOCOLS } from '../output/names.ts';
import type { CellSummary, GroundTruthSummary } from './summary.ts';

const WIDTH = 1080;
const LANE_HEIGHT = 13;
const ROW_GAP = 10;
const COLOURS = {
  type: 'ordinal',
  domain: LOAD_PROTOCOLS,
  range: ['var(--hw-h1)', 'var(--hw-h2)', 'var(--hw-h3)', 'var(--hw-unknown)', 'var(--hw-load)'],
} as const;

interface Point {
  row: string;
  protocol: LoadProtocol;
  x: number;
  low: number;
  high: number;
  title: string;
}

/** A comparison of protocols on each network, then each network's load times by page. */
export function drawCharts(summary: GroundTruthSummary, matrix: GroundTruthMatrix): Chart[] {
  const views = matrix.views.filter((view) => summary.cells.some((cell) => cell.view === view));
  const networks = Object.keys(matrix.networks);
  return withDocument((document) =>
    views.flatMap((view) => {
      const cells = summary.cells.filter((cell) => cell.view === view);
      return [
        ...[comparison(cells, networks, view, document) ?? []].flat(),
        ...networks.flatMap((network) => {
          const own = cells.filter((cell) => cell.network === network);
          return loadTimes(own, matrix.networks[network]!.title, view, document) ?? [];
        }),
      ];
    }),
  );
}

const viewSuffix = (view: View): string => (view === 'warm' ? '-warm' : '');
const viewWords = (view: View): string => (view === 'warm' ? ', repeat view' : '');

/**
 * One dot for each page: its median over that of the page's fastest protocol on the network. Null where nothing can be
 * compared.
 */
function comparison(cells: CellSummary[], networks: string[], view: View, document: Document): Chart | null {
  const points = cells.flatMap((cell) =>
    seriesOf(cell).flatMap(([protocol, { overBest }]): Point[] =>
      overBest === null
        ? []
        : [
            {
              row: cell.network,
              protocol,
              x: overBest,
              low: overBest,
              high: overBest,
              title: `${cell.page}, ${LOAD_PROTOCOL_NAME[protocol]}: ${overBest.toFixed(2)} times the fastest`,
            },
          ],
    ),
  );
  if (points.length === 0) return null;
  const rows = networks.filter((network) => points.some(({ row }) => row === network));
  return {
    name: `compared${viewSuffix(view)}`,
    title: `Load time over that of the fastest protocol${viewWords(view)}`,
    svg: draw(points, rows, document, {
      label: 'times the fastest; dot: page, bar: median page',
      tickFormat: (ratio) => `${ratio}×`,
      typical: true,
    }),
  };
}

function loadTimes(cells: CellSummary[], network: string, view: View, document: Document): Chart | null {
  const points = cells.flatMap((cell) =>
    seriesOf(cell).map(
      ([protocol, { medianMs, medianLowMs, medianHighMs }]): Point => ({
        row: cell.page,
        protocol,
        x: medianMs / 1000,
        low: medianLowMs / 1000,
        // An interval without an upper end starts at its lower end only.
        high: (medianHighMs ?? medianMs) / 1000,
        title: `${cell.page}, ${LOAD_PROTOCOL_NAME[protocol]}: ${(medianMs / 1000).toFixed(2)} s`,
      }),
    ),
  );
  if (points.length === 0) return null;
  return {
    name: `${fileNamePart(cells[0]!.network)}${viewSuffix(view)}`,
    title: `${network}${viewWords(view)}`,
    svg: draw(points, [...new Set(points.map(({ row }) => row))], document, {
      label: 'page load time, median and its 95% interval',
      tickFormat: (seconds) => `${seconds} s`,
      typical: false,
    }),
  };
}

function draw(
  points: Point[],
  rows: string[],
  document: Document,
  options: { label: string; tickFormat: (value: number) => string; typical: boolean },
): string {
  const lanes = LOAD_PROTOCOLS.filter((protocol) => points.some((point) => point.protocol === protocol));
  const lane = { y: 'protocol', fy: 'row' } as const;
  const dots = options.typical ? { r: 2.5, fillOpacity: 0.55 } : { r: 3.5 };
  const ends = points.flatMap(({ low, high }) => [low, high]);
  const longest = Math.max(0, ...rows.map((row) => row.length));
  const plot = Plot.plot({
    document,
    width: WIDTH,
    height: 40 + rows.length * (lanes.length * LANE_HEIGHT + ROW_GAP),
    marginLeft: Math.min(220, 20 + 7 * longest),
    marginRight: 72,
    marginTop: 6,
    marginBottom: 38,
    style: { fontFamily: 'inherit', fontSize: '12px', background: 'none', overflow: 'visible' },
    x: {
      type: 'log',
      grid: true,
      domain: [Math.min(...ends) * 0.97, Math.max(...ends) * 1.03],
      ticks: 6,
      tickFormat: options.tickFormat,
      label: options.label,
    },
    y: { domain: lanes },
    fy: { domain: rows, axis: 'left', label: null, padding: 0.12 },
    color: COLOURS,
    ariaLabel: options.label,
    marks: [
      Plot.axisY({
        anchor: 'right',
        label: null,
        tickSize: 0,
        fontSize: 9,
        fill: 'var(--hw-muted)',
        tickFormat: (protocol: LoadProtocol) => LOAD_PROTOCOL_NAME[protocol],
      }),
      Plot.ruleY(points, { ...lane, x1: 'low', x2: 'high', stroke: 'protocol', strokeWidth: 2 }),
      Plot.dot(points, { ...lane, x: 'x', fill: 'protocol', title: 'title', ...dots }),
      ...(options.typical
        ? [
            Plot.tickX(
              points,
              Plot.groupY({ x: 'median' }, { ...lane, x: 'x', stroke: 'protocol', strokeWidth: 2.5 }),
            ),
          ]
        : []),
    ],
  });
  return toSvg(plot);
}

function seriesOf(cell: CellSummary) {
  return LOAD_PROTOCOLS.flatMap((protocol) => {
    const series = cell.protocols[protocol];
    return series ? [[protocol, series] as const] : [];
  });
}
