import type { Act } from '../autopilot/act.ts';
import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { formatOrigin, formatTime } from '../ui/format.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { describeAct } from './describe-act.ts';

/** Shown at first; a button shows the others. */
const SHOWN = 10;

/** Everything that the autopilot did: why, and what came of it. */
export function renderAutopilotLog(client: AutopilotClient): HTMLElement {
  const el = builder();
  const list = el('ul', { class: 'hw-acts' });
  const none = el('p', { class: 'hw-note' }, t('autopilotLogNone'));
  const more = el('button', { type: 'button', class: 'hw-link' });
  let isWhole = false;

  const draw = () => {
    const { acts } = client;
    list.replaceChildren(...acts.slice(0, isWhole ? undefined : SHOWN).map(renderAct));
    list.hidden = acts.length === 0;
    none.hidden = acts.length > 0;
    more.hidden = isWhole || acts.length <= SHOWN;
    more.textContent = t('autopilotLogShowAll', { count: acts.length });
  };
  more.addEventListener('click', () => {
    isWhole = true;
    draw();
  });
  client.onChange(draw);
  draw();
  return renderCard(
    t('autopilotLogTitle'),
    none,
    list,
    el('div', {}, more),
    el('p', { class: 'hw-note' }, t('autopilotLogErased')),
  );
}

function renderAct(act: Act): HTMLElement {
  const el = builder();
  const { done, why, result } = describeAct(act);
  const { host, pathname } = new URL(act.pageUrl);
  const datetime = new Date(act.madeAtMs).toISOString();
  const time = el('time', { datetime }, formatTime(act.madeAtMs));
  return el(
    'li',
    { 'data-state': act.state },
    el('p', {}, el('strong', {}, done)),
    el('p', { class: 'hw-act-place' }, time, ` · ${formatOrigin(host)}${pathname}`),
    el('p', {}, `${why} ${result}`),
  );
}
