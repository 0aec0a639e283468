import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { formatDuration } from '../ui/format.ts';

/** Load times of an invented page on a mobile network that loses packets, ms. */
const TIMES = [
  { protocol: 'h1', name: 'HTTP/1.1', ms: 3100 },
  { protocol: 'h2', name: 'HTTP/2', ms: 4300 },
  { protocol: 'h3', name: 'HTTP/3', ms: 2300 },
] as const;

/** What hopwise shows, by an invented page. */
export function renderExample(): HTMLElement {
  const el = builder();
  const slowest = Math.max(...TIMES.map(({ ms }) => ms));
  const bars = TIMES.flatMap(({ protocol, name, ms }) => {
    const bar = el('div', { class: `hw-bar hw-bar-${protocol}`, 'aria-hidden': 'true' });
    bar.style.width = `${(100 * ms) / slowest}%`;
    return [el('dt', {}, name), el('dd', {}, bar), el('dd', {}, formatDuration(ms))];
  });
  return renderCard(
    t('exampleTitle'),
    el('p', {}, t('exampleIntro')),
    el('dl', { class: 'hw-example' }, ...bars),
    el('p', {}, t('exampleUse')),
  );
}
