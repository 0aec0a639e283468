import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import type { AutopilotRun } from '../autopilot/runs/autopilot-run.ts';
import { t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatOrigin, formatTime } from '../ui/format.ts';
import { describeRun } from './describe-run.ts';

/** Shown at first; a button shows the others. */
const SHOWN = 10;

/** Everything that the autopilot did: why, and what came of it. */
export function renderAutopilotLog(client: AutopilotClient): HTMLElement {
  const el = builder();
  const list = el('ul', { class: 'hw-entries' });
  const none = el('p', { class: 'hw-note' }, t('autopilotLogNone'));
  let isWhole = false;

  const draw = () => {
    const { runs } = client;
    list.replaceChildren(...runs.slice(0, isWhole ? undefined : SHOWN).map(renderRun));
    list.hidden = runs.length === 0;
    none.hidden = runs.length > 0;
    more.hidden = isWhole || runs.length <= SHOWN;
    more.textContent = t('autopilotLogShowAll', { count: runs.length });
  };
  const more = renderButton(
    '',
    () => {
      isWhole = true;
      draw();
    },
    { class: 'hw-link' },
  );
  client.onChange(draw);
  draw();
  return renderCardOfGroup(
    t('autopilotLogTitle'),
    none,
    list,
    el('div', {}, more),
    renderExplanation(t('autopilotLogTitle'), t('autopilotLogErased')),
  );
}

function renderRun(run: AutopilotRun): HTMLElement {
  const el = builder();
  const { done, why, result } = describeRun(run);
  const datetime = new Date(run.madeAtMs).toISOString();
  const time = el('time', { datetime }, formatTime(run.madeAtMs));
  return el(
    'li',
    { 'data-state': run.state },
    el('p', {}, el('strong', {}, done)),
    el('p', { class: 'hw-entry-place' }, time, describePlace(run)),
    el('p', {}, `${why} ${result}`),
  );
}

/** The page that led to it, if one did. */
function describePlace({ pageUrl }: AutopilotRun): string {
  if (pageUrl === '') return '';
  const { host, pathname } = new URL(pageUrl);
  return ` · ${formatOrigin(host)}${pathname}`;
}
