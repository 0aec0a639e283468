import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import type { Learnt, LearntPage, LearntPlace } from '../autopilot/learnt.ts';
import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { renderButton, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatDuration, formatOrigin, formatTime, keepUnitsTogether } from '../ui/format.ts';

/** Pages shown for each network. */
const MAX_SHOWN = 5;

/** What trials compare: load times that were measured on each network, with a button that erases them. */
export function renderLearntTimes(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const networks = el('div', { class: 'hw-learnt' });
  const none = el('p', { class: 'hw-note' }, t('learntNone'));

  const erase = async (learnt: Learnt) => {
    status.textContent = (await client.eraseLearnt(learnt)) || t('learntErased');
  };
  const draw = () => {
    const { learnt } = client;
    networks.replaceChildren(...learnt.map((each) => renderNetwork(each, () => void erase(each))));
    none.hidden = learnt.length > 0;
  };
  client.onChange(draw);
  draw();
  return renderCard(t('learntTitle'), el('p', {}, t('learntExplanation')), none, networks, status);
}

const PLACE_NAME = {
  internet: 'learntInternet',
  local: 'learntLocal',
} as const satisfies Record<LearntPlace, PlainKey>;

function nameNetwork({ isCurrent, place, usedAtMs }: Learnt): string {
  const name = t(PLACE_NAME[place]);
  return isCurrent ? name : t('learntElsewhere', { place: name, time: formatTime(usedAtMs) });
}

function renderNetwork(learnt: Learnt, erase: () => void): HTMLElement {
  const el = builder();
  const { pages } = learnt;
  const name = nameNetwork(learnt);
  const label = t('learntEraseNetwork', { network: name });
  const hidden = pages.length - MAX_SHOWN;
  return el(
    'section',
    {},
    el('h3', {}, name),
    el('ul', { class: 'hw-entries' }, ...pages.slice(0, MAX_SHOWN).map(renderPage)),
    hidden > 0 ? el('p', { class: 'hw-note' }, plural('learntMore', hidden)) : null,
    el('div', {}, renderButton(t('learntErase'), erase, { 'aria-label': label })),
  );
}

function renderPage({ url, ways }: LearntPage): HTMLElement {
  const el = builder();
  const times = ways.map(({ name, medianMs, loads }) =>
    t('learntTime', {
      way: describeWay(name),
      time: formatDuration(medianMs),
      loads: plural('loads', loads),
    }),
  );
  return el(
    'li',
    {},
    el('p', {}, el('strong', {}, formatOrigin(url))),
    ...times.map((time) => el('p', {}, keepUnitsTogether(time))),
  );
}

/** @param name of an arm, see `choose-trial.ts` */
function describeWay(name: string): string {
  const [kind, held] = name.split(' ');
  if (kind === 'leave') return t('learntLeave');
  if (kind === 'avoid-h3') return t('learntAvoid');
  const protocol = PROTOCOLS.find((each) => each === held);
  return protocol === undefined ? t('learntSeveral') : t('learntHold', { protocol: PROTOCOL_NAME[protocol] });
}
