import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { knowsUdp } from '../evidence/known-udp.ts';
import { plural, t } from '../language/translate.ts';
import { sendLoadRequest } from '../messages/load-messages.ts';
import { countOtherNetworks, loadNetwork } from '../storage/network.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderFigures, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatLoss, formatMbps, formatMs } from '../ui/format.ts';

/** What is known of the network that the browser is on, with a button that forgets it. */
export async function renderKnownNetwork(): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const figures = el('dl', { class: 'hw-figures' });
  const others = el('p', { class: 'hw-note' });
  const forget = renderButton(t('forget'), async () => {
    const answer = await sendLoadRequest({ type: 'forget-networks' });
    status.textContent = answer.ok ? t('networkForgotten') : answer.error;
    await draw();
  });

  const draw = async () => {
    const [network, otherNetworks] = await Promise.all([loadNetwork(), countOtherNetworks()]);
    figures.replaceChildren(...renderFigures(network === null ? [] : listFigures(network)));
    figures.hidden = network === null;
    others.textContent = otherNetworks === 0 ? '' : plural('networkOthers', otherNetworks);
    others.hidden = otherNetworks === 0;
    forget.hidden = network === null && otherNetworks === 0;
    if (network === null) status.textContent ||= t('networkNone');
  };
  await draw();
  return renderCardOfGroup(
    t('networkTitle'),
    figures,
    others,
    el('div', {}, forget),
    status,
    renderExplanation(t('networkTitle'), t('networkExplanation')),
  );
}

const UDP_NAME = { open: 'udpOpen', policed: 'udpLimited', blocked: 'udpBlocked' } as const;

/** Medians: the figures are log-normal. */
function listFigures(network: NetworkCluster): [string, string][] {
  const { loads, rttMs, downBps, upBps, loss } = network;
  return [
    [t('networkLearnedFrom'), plural('loads', Math.round(loads))],
    [t('figureRoundTrip'), formatMs(Math.exp(rttMs.mean))],
    [t('figureDown'), formatMbps(Math.exp(downBps.mean) / 1e6)],
    [t('figureUp'), formatMbps(Math.exp(upBps.mean) / 1e6)],
    [t('figureLoss'), formatLoss(Math.exp(loss.mean))],
    ['UDP', describeUdp(network)],
  ];
}

/** The likeliest treatment. Most networks leave UDP open: until a load shows it, this is a guess, beside which a site may say otherwise. */
function describeUdp(network: NetworkCluster): string {
  const [likeliest] = (['open', 'policed', 'blocked'] as const).toSorted(
    (a, b) => network.udp[b] - network.udp[a],
  );
  return likeliest === 'open' && !knowsUdp(network) ? t('unknown') : t(UDP_NAME[likeliest!]);
}
