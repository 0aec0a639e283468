import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import * as Plot from '@observablehq/plot';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatLoss, formatMs, formatShare } from '../../ui/format.ts';
import { PROTOCOL_COLOURS } from '../../ui/palette.ts';
import { renderPlot } from '../../ui/plot.ts';
import { renderLegend } from '../../ui/waterfall.ts';
import { MAP_LOSSES, MAP_RTTS_MS, type MapCell } from '../emulation/winner-map.ts';

const el = builder();

/** A lead of this share has the full colour. */
const FULL_LEAD = 0.5;
/** Opacity of the colour of the least lead: enough to recognise the colour on a light and on a dark background. */
const LEAST_OPACITY = 0.4;
/** Opacity of the grey where no protocol is ahead; as that of `hw-swatch-waiting`, by which the legend shows it. */
const EQUAL_OPACITY = 0.35;

/** A narrower map has room for every second round trip's label alone, CSS pixels. */
const ALL_TICKS_PX = 460;

const indexOfNearest = (
  values: readonly number[],
  value: number,
  distance: (a: number, b: number) => number,
) =>
  values.reduce(
    (best, each, index) => (distance(each, value) < distance(values[best]!, value) ? index : best),
    0,
  );

/**
 * The fastest protocol by round trip and loss, with the network of the settings marked.
 *
 * @param width CSS pixels
 */
export function renderWinnerMap(
  cells: readonly MapCell[],
  { rttMs, loss }: { rttMs: number; loss: number },
  width: number,
): HTMLElement {
  const rtt = MAP_RTTS_MS[indexOfNearest(MAP_RTTS_MS, rttMs, (a, b) => Math.abs(Math.log(a / b)))]!;
  // Losses are compared as logarithms too; none is far from any.
  const nearest = indexOfNearest(MAP_LOSSES, loss, (a, b) => Math.abs(Math.log((a + 1e-4) / (b + 1e-4))));
  const marked = [{ rttMs: rtt, loss: MAP_LOSSES[nearest]! }];
  const plot = renderPlot({
    width,
    height: 52 + MAP_LOSSES.length * 26,
    marginLeft: 52,
    marginTop: 18,
    marginBottom: 34,
    style: { fontFamily: 'inherit', fontSize: '11px', background: 'transparent' },
    x: {
      domain: MAP_RTTS_MS,
      tickFormat: (ms: number) => formatMs(ms),
      ticks: MAP_RTTS_MS.filter((_, index) => width >= ALL_TICKS_PX || index % 2 === 0),
      label: t('mapRoundTrip'),
      tickSize: 0,
    },
    y: {
      domain: MAP_LOSSES.toReversed(),
      tickFormat: (share: number) => formatLoss(share),
      label: t('mapLoss'),
      labelAnchor: 'top',
      labelArrow: 'none',
      tickSize: 0,
    },
    color: PROTOCOL_COLOURS,
    marks: [
      Plot.cell(cells, {
        x: 'rttMs',
        y: 'loss',
        fill: ({ winner }: MapCell) => winner ?? 'unknown',
        fillOpacity: opacityOf,
        inset: 1,
        rx: 2,
        title: describeCell,
      }),
      Plot.cell(marked, { x: 'rttMs', y: 'loss', stroke: 'var(--hw-text)', strokeWidth: 2, inset: 0, rx: 3 }),
    ],
    ariaLabel: t('whatIfMap'),
  });
  const winners = new Set(cells.map(({ winner }) => winner));
  const legend = renderLegend([
    ...PROTOCOLS.filter((protocol) => winners.has(protocol)).map((protocol): [string, string] => [
      protocol,
      t('mapFastest', { protocol: PROTOCOL_NAME[protocol] }),
    ]),
    // As pale as its cells.
    ...(winners.has(null) ? [['waiting', t('mapEqual')] as [string, string]] : []),
  ]);
  legend.append(el('li', {}, t('mapNote')));
  return el('figure', { class: 'hw-chart' }, plot, legend);
}

/** Given as it is drawn: the plot takes numbers below 1 for opacities, not for what its scale converts. */
function opacityOf({ winner, lead }: MapCell): number {
  if (winner === null) return EQUAL_OPACITY;
  return LEAST_OPACITY + (1 - LEAST_OPACITY) * Math.min(1, lead / FULL_LEAD);
}

function describeCell({ rttMs, loss, winner, lead }: MapCell): string {
  const place = { rtt: formatMs(rttMs), loss: formatLoss(loss) };
  return winner
    ? t('mapCellAhead', { ...place, protocol: PROTOCOL_NAME[winner], share: formatShare(lead) })
    : t('mapCellEqual', place);
}
