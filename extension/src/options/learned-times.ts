import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import type { Learned, LearnedPage, LearnedPlace } from '../autopilot/learning/learned.ts';
import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatDuration, formatOrigin, formatTime, keepUnitsTogether } from '../ui/format.ts';

/** Pages shown for each network. */
const MAX_SHOWN = 5;

/** What trials compare: load times that were measured on each network, with a button that erases them. */
export function renderLearnedTimes(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const networks = el('div', { class: 'hw-learned' });
  const none = el('p', { class: 'hw-note' }, t('learnedNone'));

  const erase = async (learned: Learned) => {
    status.textContent = (await client.eraseLearned(learned)) || t('learnedErased');
  };
  const draw = () => {
    const { learned } = client;
    networks.replaceChildren(...learned.map((each) => renderNetwork(each, () => void erase(each))));
    none.hidden = learned.length > 0;
  };
  client.onChange(draw);
  draw();
  const explanation = renderExplanation(t('learnedTitle'), t('learnedExplanation'));
  return renderCardOfGroup(t('learnedTitle'), none, networks, status, explanation);
}

const PLACE_NAME = {
  internet: 'learnedInternet',
  local: 'learnedLocal',
} as const satisfies Record<LearnedPlace, PlainKey>;

function nameNetwork({ isCurrent, place, usedAtMs }: Learned): string {
  const name = t(PLACE_NAME[place]);
  return isCurrent ? name : t('learnedElsewhere', { place: name, time: formatTime(usedAtMs) });
}

function renderNetwork(learned: Learned, erase: () => void): HTMLElement {
  const el = builder();
  const { pages } = learned;
  const name = nameNetwork(learned);
  const label = t('learnedEraseNetwork', { network: name });
  const hidden = pages.length - MAX_SHOWN;
  return el(
    'section',
    {},
    el('h4', {}, name),
    el('ul', { class: 'hw-entries' }, ...pages.slice(0, MAX_SHOWN).map(renderPage)),
    hidden > 0 ? el('p', { class: 'hw-note' }, plural('learnedMore', hidden)) : null,
    el('div', {}, renderButton(t('learnedErase'), erase, { 'aria-label': label })),
  );
}

function renderPage({ url, ways }: LearnedPage): HTMLElement {
  const el = builder();
  const times = ways.map(({ name, medianMs, loads }) =>
    t('learnedTime', {
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
  if (kind === 'leave') return t('learnedLeave');
  if (kind === 'avoid-h3') return t('learnedAvoid');
  const protocol = PROTOCOLS.find((each) => each === held);
  return protocol === undefined
    ? t('learnedSeveral')
    : t('learnedHold', { protocol: PROTOCOL_NAME[protocol] });
}
