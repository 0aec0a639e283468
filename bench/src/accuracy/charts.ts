/** Charts of an accuracy run as SVG. */

import { PROTOCOL_NAME } from '@hopwise/contract';
import { type Chart, toSvg, withDocument } from '@hopwise/lab/output/charts';
import { percent } from '@hopwise/lab/output/names';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import * as Plot from '@observablehq/plot';
import type { Accuracy } from './accuracy.ts';
import { CHOOSER_NAMES, CHOOSERS } from './choosers.ts';
import { PREDICTOR_NAMES, PREDICTORS } from './guess.ts';

const WIDTH = 900;
const COLOURS = {
  type: 'ordinal',
  domain: PROTOCOLS,
  range: ['var(--hw-h1)', 'var(--hw-h2)', 'var(--hw-h3)'],
} as const;
/** Seconds. */
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const STYLE = { fontFamily: 'inherit', fontSize: '12px', background: 'none', overflow: 'visible' };

/** Predicted against measured load times, and the regret of each chooser. */
export function drawCharts(accuracy: Accuracy): Chart[] {
  return withDocument((document) => [loadTimes(accuracy, document), regrets(accuracy, document)]);
}

function loadTimes({ cells }: Accuracy, document: Document): Chart {
  const points = cells.flatMap(({ page, network, predictors }) =>
    PREDICTORS.flatMap((predictor) =>
      PROTOCOLS.flatMap((protocol) => {
        const measuredMs = predictors[predictor]?.measured[protocol];
        const predictedMs = predictors[predictor]?.medians[protocol];
        if (measuredMs === undefined || predictedMs === undefined) return [];
        return {
          protocol,
          predictor: PREDICTOR_NAMES[predictor],
          measured: measuredMs / 1000,
          predicted: predictedMs / 1000,
          title: `${page} on ${network}, ${PROTOCOL_NAME[protocol]}: predicted ${(predictedMs / 1000).toFixed(2)} s, measured ${(measuredMs / 1000).toFixed(2)} s`,
        };
      }),
    ),
  );
  const times = points.flatMap(({ measured, predicted }) => [measured, predicted]);
  const domain = [0.9 * Math.min(...times), 1.1 * Math.max(...times)] as [number, number];
  const rows = PREDICTORS.map((predictor) => PREDICTOR_NAMES[predictor]).filter((name) =>
    points.some(({ predictor }) => predictor === name),
  );
  const ticks = TICKS.filter((time) => time >= domain[0] && time <= domain[1]);
  const seconds = { type: 'log', domain, grid: true, ticks, tickFormat: (s: number) => `${s} s` } as const;
  const plot = Plot.plot({
    document,
    width: WIDTH,
    height: 70 + rows.length * 250,
    marginLeft: 52,
    marginRight: 150,
    marginTop: 30,
    marginBottom: 40,
    style: STYLE,
    x: { ...seconds, label: 'measured (median)' },
    y: { ...seconds, label: 'predicted' },
    fx: { domain: PROTOCOLS, label: null, tickFormat: (protocol: Protocol) => PROTOCOL_NAME[protocol] },
    fy: { domain: rows, label: null },
    color: COLOURS,
    ariaLabel: 'predicted against measured page load time',
    marks: [
      Plot.line(
        domain.map((time) => [time, time]),
        { stroke: 'var(--hw-muted)', strokeWidth: 1 },
      ),
      Plot.dot(points, {
        fx: 'protocol',
        fy: 'predictor',
        x: 'measured',
        y: 'predicted',
        fill: 'protocol',
        fillOpacity: 0.7,
        r: 3,
        title: 'title',
      }),
    ],
  });
  return {
    name: 'predicted',
    title: 'Predicted against measured load time, one dot for each page on each network',
    svg: toSvg(plot),
  };
}

function regrets({ figures, intervals }: Accuracy, document: Document): Chart {
  const bars = CHOOSERS.flatMap((chooser) => {
    const own = figures.choosers[chooser];
    if (own === undefined) return [];
    const { regret, notLoading } = own;
    const { low, high } = intervals[chooser]?.regret ?? { low: regret.mean, high: regret.mean };
    return {
      name: CHOOSER_NAMES[chooser],
      own: chooser.startsWith('hopwise'),
      mean: 100 * regret.mean,
      low: 100 * low,
      high: 100 * high,
      label: `${percent(regret.mean)}${notLoading > 0 ? `, ${notLoading} × no load` : ''}`,
    };
  });
  const floor = figures.noiseFloor;
  const plot = Plot.plot({
    document,
    width: WIDTH,
    height: 60 + 28 * bars.length,
    marginLeft: 190,
    marginRight: 120,
    marginTop: 20,
    marginBottom: 40,
    style: STYLE,
    x: { grid: true, nice: true, label: 'mean regret and its 95% interval, %' },
    y: { domain: bars.map(({ name }) => name), label: null },
    ariaLabel: 'mean regret of each way to choose',
    marks: [
      Plot.barX(bars, {
        x: 'mean',
        y: 'name',
        fill: ({ own }: (typeof bars)[number]) => (own ? 'var(--hw-focus)' : 'var(--hw-unknown)'),
        insetTop: 3,
        insetBottom: 3,
      }),
      Plot.ruleY(bars, { x1: 'low', x2: 'high', y: 'name', stroke: 'currentColor', strokeWidth: 1.5 }),
      Plot.text(bars, {
        x: 'high',
        y: 'name',
        text: 'label',
        textAnchor: 'start',
        dx: 6,
        fill: 'currentColor',
      }),
      ...(floor === null
        ? []
        : [
            Plot.ruleX([100 * floor], { stroke: 'var(--hw-load)', strokeDasharray: '4 3', strokeWidth: 1.5 }),
          ]),
    ],
  });
  return {
    name: 'regret',
    title:
      'Time lost by each way to choose, relative to the best single protocol; dashed: an oracle that chose by half of the loads, judged on the other half',
    svg: toSvg(plot),
  };
}
