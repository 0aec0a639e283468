import type { FigureSource } from '@hopwise/contract';
import type { Prediction } from '@hopwise/pageload-emulator';
import { type PlainKey, t } from '../language/translate.ts';
import { builder, type ViewOptions } from './dom.ts';
import { formatLoss, formatMbps, formatMs } from './format.ts';

const SOURCE_NAME: Record<FigureSource, PlainKey> = {
  given: 'sourceGiven',
  estimated: 'sourceEstimated',
  measured: 'sourceMeasured',
  assumed: 'sourceAssumed',
};
const SOURCE_HINT: Record<FigureSource, PlainKey> = {
  given: 'sourceGivenHint',
  estimated: 'sourceEstimatedHint',
  measured: 'sourceMeasuredHint',
  assumed: 'sourceAssumedHint',
};

/** Where a figure of the network is from. */
export const nameSource = (source: FigureSource): string => t(SOURCE_NAME[source]);

/** How the network treats UDP. @param udp a number is the rate that it is held to, Mbit/s */
export function nameUdp(udp: Prediction['network']['udp']): string {
  if (typeof udp === 'number') return t('udpLimitedTo', { rate: formatMbps(udp) });
  return { open: t('udpOpen'), blocked: t('udpBlocked'), lossy: t('udpLossy') }[udp];
}

/**
 * What is likeliest of UDP. No emulated network blocks UDP unless that is certain, so that the figure they share says "open" also where
 * loads before this one, or a verification of one, have shown that it hardly is.
 */
export const likeliestUdp = ({
  udp,
  udpShares,
}: Pick<Prediction['network'], 'udp' | 'udpShares'>): Prediction['network']['udp'] =>
  udpShares.blocked > 0.5 ? 'blocked' : udp;

/** How long the full queue takes to drain at the rate down. */
export const queueMs = ({
  queueBytes,
  downMbps,
}: Pick<Prediction['network'], 'queueBytes' | 'downMbps'>): number => (queueBytes * 8) / (downMbps * 1000);

/** The figures of the network that the prediction assumes: name, value and source of each. */
export const listFigures = ({
  source,
  ...network
}: Prediction['network']): [string, string, FigureSource][] => [
  [t('figureRoundTrip'), formatMs(network.rttMs), source.rttMs],
  [t('figureDown'), formatMbps(network.downMbps), source.downMbps],
  [t('figureUp'), formatMbps(network.upMbps), source.upMbps],
  [t('figureLoss'), formatLoss(network.loss), source.loss],
  ['UDP', nameUdp(likeliestUdp(network)), source.udp],
  [t('figureQueue'), formatMs(queueMs(network)), source.queueBytes],
];

/** These figures, each with its source. */
export function renderNetwork(network: Prediction['network'], options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  return el(
    'dl',
    { class: 'hw-network' },
    ...listFigures(network).map(([name, value, from]) =>
      el(
        'div',
        {},
        el('dt', {}, name),
        el('dd', {}, value),
        el('dd', { class: `hw-source hw-source-${from}`, title: t(SOURCE_HINT[from]) }, nameSource(from)),
      ),
    ),
  );
}
