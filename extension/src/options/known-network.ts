import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { sendLoadRequest } from '../messages/load-messages.ts';
import { loadNetwork } from '../storage/network.ts';
import { builder } from '../ui/dom.ts';
import { formatCount, formatLoss, formatMbps, formatMs } from '../ui/format.ts';
import { renderSection, renderStatus } from './section.ts';

const EXPLANATION =
  'Page loads show what the network does; later predictions on it start from that. Its name is not stored, only these figures. They are ' +
  'forgotten when the browser reports a change of network, and three days after the last load.';
const NONE = 'No network is known yet.';

/** What is known of the network that the browser is on, with a button that forgets it. */
export async function renderKnownNetwork(): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const figures = el('dl', { class: 'hw-figures' });
  const forget = el('button', { type: 'button', class: 'hw-button' }, 'Forget');

  const draw = async () => {
    const network = await loadNetwork();
    figures.replaceChildren(
      ...(network === null ? [] : listFigures(network)).flatMap(([name, value]) => [
        el('dt', {}, name),
        el('dd', {}, value),
      ]),
    );
    figures.hidden = network === null;
    forget.hidden = network === null;
    if (network === null) status.textContent ||= NONE;
  };
  forget.addEventListener('click', async () => {
    const answer = await sendLoadRequest({ type: 'forget-networks' });
    status.textContent = answer.ok ? 'The network is forgotten.' : answer.error;
    await draw();
  });
  await draw();
  return renderSection('The network', el('p', {}, EXPLANATION), figures, el('div', {}, forget), status);
}

/** Medians: the figures are log-normal. */
function listFigures({ loads, rttMs, downBps, upBps, loss, udp }: NetworkCluster): [string, string][] {
  const [likeliest] = Object.entries(udp).sort(([, a], [, b]) => b - a);
  return [
    ['Learned from', formatCount(Math.round(loads), 'load')],
    ['Round trip', formatMs(Math.exp(rttMs.mean))],
    ['Down', formatMbps(Math.exp(downBps.mean) / 1e6)],
    ['Up', formatMbps(Math.exp(upBps.mean) / 1e6)],
    ['Loss', formatLoss(Math.exp(loss.mean))],
    ['UDP', likeliest![0]],
  ];
}
