import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';

/** Load times of an invented page on a mobile network that loses packets, seconds. */
const TIMES_S = [
  { protocol: 'h1', name: 'HTTP/1.1', seconds: 3.1 },
  { protocol: 'h2', name: 'HTTP/2', seconds: 4.3 },
  { protocol: 'h3', name: 'HTTP/3', seconds: 2.3 },
] as const;

/** What hopwise shows, by an invented page. */
export function renderExample(): HTMLElement {
  const el = builder();
  const slowest = Math.max(...TIMES_S.map(({ seconds }) => seconds));
  const bars = TIMES_S.flatMap(({ protocol, name, seconds }) => {
    const bar = el('div', { class: `hw-bar hw-bar-${protocol}`, 'aria-hidden': 'true' });
    bar.style.width = `${(100 * seconds) / slowest}%`;
    return [el('dt', {}, name), el('dd', {}, bar), el('dd', {}, `${seconds.toFixed(1)} s`)];
  });
  return renderCard(
    '3. An example',
    el(
      'p',
      {},
      'An invented shop on a mobile network that loses packets. A lost packet stops everything on HTTP/2’s one connection, and one ' +
        'response on HTTP/3:',
    ),
    el('dl', { class: 'hw-example' }, ...bars),
    el(
      'p',
      {},
      'Load a page and click the hopwise icon: it shows these times for your page and network, and what to change if that is worthwhile. ' +
        'Developers find waterfalls and reasons in the DevTools panel “hopwise”.',
    ),
  );
}
