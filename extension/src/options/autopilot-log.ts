import type { Act } from '../autopilot/act.ts';
import { builder } from '../ui/dom.ts';
import { formatOrigin } from '../ui/format.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { describeAct } from './describe-act.ts';
import { renderSection } from './section.ts';

const NONE = 'Nothing yet. What the autopilot does is listed here, with the load times before and after.';
const ERASED =
  'Entries are erased with the page loads: when they are too old, and by “Erase…”, which also undoes them.';
/** Shown at first; a button shows the others. */
const SHOWN = 10;

/** Everything that the autopilot did: why, and what came of it. */
export function renderAutopilotLog(client: AutopilotClient): HTMLElement {
  const el = builder();
  const list = el('ul', { class: 'hw-acts' });
  const none = el('p', { class: 'hw-note' }, NONE);
  const more = el('button', { type: 'button', class: 'hw-link' });
  let isWhole = false;

  const draw = () => {
    const { acts } = client;
    list.replaceChildren(...acts.slice(0, isWhole ? undefined : SHOWN).map(renderAct));
    list.hidden = acts.length === 0;
    none.hidden = acts.length > 0;
    more.hidden = isWhole || acts.length <= SHOWN;
    more.textContent = `Show all ${acts.length}`;
  };
  more.addEventListener('click', () => {
    isWhole = true;
    draw();
  });
  client.onChange(draw);
  draw();
  return renderSection(
    'What the autopilot did',
    none,
    list,
    el('div', {}, more),
    el('p', { class: 'hw-note' }, ERASED),
  );
}

function renderAct(act: Act): HTMLElement {
  const el = builder();
  const { done, why, result } = describeAct(act);
  const { host, pathname } = new URL(act.pageUrl);
  const made = new Date(act.madeAtMs);
  const time = el(
    'time',
    { datetime: made.toISOString() },
    made.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  );
  return el(
    'li',
    { 'data-state': act.state },
    el('p', {}, el('strong', {}, done)),
    el('p', { class: 'hw-act-place' }, time, ` on ${formatOrigin(host)}${pathname}`),
    el('p', {}, `${why} ${result}`),
  );
}
