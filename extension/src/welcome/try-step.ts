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

/** The step that has a person click the icon, with a picture of it, and an example of what hopwise finds. */
export function renderTryStep(): HTMLElement {
  const el = builder();
  return renderCard(
    t('tryTitle'),
    el('p', {}, t('tryOpen')),
    renderToolbar(),
    el('p', { class: 'hw-note' }, t('tryHidden')),
    el(
      'details',
      { class: 'hw-explanation' },
      el('summary', {}, t('exampleTitle')),
      el('p', {}, t('exampleIntro')),
      renderExample(),
      el('p', {}, t('exampleUse')),
    ),
  );
}

/** The browser's toolbar, drawn: its address bar, and the icon to click beside it. */
function renderToolbar(): HTMLElement {
  const el = builder();
  const icon = el('img', { src: 'icons/32.png', width: '20', height: '20', alt: '' });
  return el(
    'div',
    { class: 'hw-toolbar', role: 'img', 'aria-label': t('tryPicture') },
    el('span', { class: 'hw-toolbar-address' }, 'https://example.org'),
    el('span', { class: 'hw-toolbar-icon' }, icon),
    el('span', { class: 'hw-toolbar-menu' }),
  );
}

function renderExample(): HTMLElement {
  const el = builder();
  const slowest = Math.max(...TIMES.map(({ ms }) => ms));
  const bars = TIMES.flatMap(({ protocol, name, ms }) => {
    const bar = el('div', { class: `hw-bar hw-bar-${protocol}`, 'aria-hidden': 'true' });
    bar.style.width = `${(100 * ms) / slowest}%`;
    return [el('dt', {}, name), el('dd', {}, bar), el('dd', {}, formatDuration(ms))];
  });
  return el('dl', { class: 'hw-example' }, ...bars);
}
