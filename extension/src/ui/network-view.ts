import type { Prediction } from '@hopwise/pageload-emulator';
import { builder, type ViewOptions } from './dom.ts';
import { formatBytes, formatLoss, formatMbps, formatMs } from './format.ts';

const SOURCE_HINT: Record<string, string> = {
  given: 'set by you',
  estimated: 'estimated from the recording',
  measured: 'measured by real transfers',
  assumed: 'assumed: the recording does not show it',
};

/** The network that the prediction assumes, each figure with its source. */
export function renderNetwork(network: Prediction['network'], options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const { source, udp } = network;
  const figures: [string, string, string][] = [
    ['Round trip', formatMs(network.rttMs), source.rttMs],
    ['Down', formatMbps(network.downMbps), source.downMbps],
    ['Up', formatMbps(network.upMbps), source.upMbps],
    ['Loss', formatLoss(network.loss), source.loss],
    ['UDP', typeof udp === 'number' ? `limited to ${formatMbps(udp)}` : udp, source.udp],
    ['Queue', formatBytes(network.queueBytes), source.queueBytes],
  ];
  return el(
    'dl',
    { class: 'hw-network' },
    ...figures.map(([name, value, from]) =>
      el(
        'div',
        {},
        el('dt', {}, name),
        el('dd', {}, value),
        el('dd', { class: `hw-source hw-source-${from}`, title: SOURCE_HINT[from] ?? '' }, from),
      ),
    ),
  );
}
