/** The figures of a run as a chart, for texts that are read in light or dark. */
import { type Chart, toSvg, withDocument } from '@hopwise/lab/output/charts';
import * as Plot from '@observablehq/plot';
import { ARMS, BROWSERS, type BrowserName } from './arms.ts';
import { change } from './figure-text.ts';
import type { ArmFigures } from './judge-product.ts';

const WIDTH = 900;
const ROW_HEIGHT = 22;

/** Draws the change of load time of each arm on each network, over all visits, with its interval. */
export function drawProduct(browser: BrowserName, figures: readonly ArmFigures[]): Chart {
  const bars = figures.flatMap(({ arm, network, ratios }) => {
    const all = ratios.at(-1);
    if (!all) return [];
    const percent = (ratio: number) => 100 * (ratio - 1);
    const estimate = percent(all.estimate);
    // No line where there is no interval.
    const [low, high] = [all.low, all.high].map((bound) => percent(bound ?? Number.NaN));
    const labelAt = percent(all.high ?? all.estimate);
    const colour = ARMS[arm].extension === 'none' ? 'var(--hw-unknown)' : 'var(--hw-focus)';
    return { arm, network, estimate, low, high, labelAt, colour, label: change(all.estimate) };
  });
  const networks = [...new Set(bars.map(({ network }) => network))];
  const arms = [...new Set(bars.map(({ arm }) => arm))];
  const svg = withDocument((document) =>
    toSvg(
      Plot.plot({
        document,
        width: WIDTH,
        height: 60 + networks.length * (arms.length * ROW_HEIGHT + 14),
        marginLeft: 110,
        marginRight: 130,
        marginTop: 20,
        marginBottom: 40,
        style: { fontFamily: 'inherit', fontSize: '12px', background: 'none', overflow: 'visible' },
        x: { grid: true, nice: true, label: 'change of load time against the browser alone, %' },
        y: { domain: arms, label: null },
        fy: { domain: networks, label: null, axis: 'right' },
        ariaLabel: 'change of load time of each arm on each network',
        marks: [
          Plot.barX(bars, {
            fy: 'network',
            y: 'arm',
            x: 'estimate',
            fill: 'colour',
            insetTop: 3,
            insetBottom: 3,
            title: ({ arm, network, label }: (typeof bars)[number]) => `${arm} on ${network}: ${label}`,
          }),
          Plot.ruleY(bars, {
            fy: 'network',
            y: 'arm',
            x1: 'low',
            x2: 'high',
            stroke: 'currentColor',
            strokeWidth: 1.5,
          }),
          Plot.text(bars, {
            fy: 'network',
            y: 'arm',
            x: 'labelAt',
            text: 'label',
            textAnchor: 'start',
            dx: 6,
            fill: 'currentColor',
          }),
          Plot.ruleX([0], { stroke: 'currentColor' }),
        ],
      }),
    ),
  );
  return {
    name: `product-${browser}`,
    title: `Load time against ${BROWSERS[browser]} alone, all visits, with 95% intervals over pages`,
    svg,
  };
}
