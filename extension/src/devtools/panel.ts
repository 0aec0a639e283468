import { PROTOCOLS } from '@hopwise/pageload-emulator';
import type { LatestAnswer } from '../messages/page-messages.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { protocolsInUse } from '../pins/page/pin-suggestions.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { builder } from '../ui/dom.ts';
import {
  PROTOCOL_NAME,
  predictedWaterfall,
  recordedWaterfall,
  renderNetwork,
  renderOriginTable,
  renderProtocolChart,
  renderSummary,
  renderTimesTable,
  renderWaterfall,
  verifiedOf,
} from '../ui/index.ts';
import { networkMemory } from '../ui/network-memory-control.ts';
import { whyNothing } from '../ui/empty-state.ts';
import { saveExport } from '../ui/export-download.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import { watchLoad } from '../ui/load-polling.ts';

const el = builder();
const content = document.getElementById('content')!;
const actions = document.getElementById('actions')!;
const page = document.getElementById('page')!;

/** In DevTools the inspected tab, as a page of its own the one named in the URL. */
const named = new URLSearchParams(location.search).get('tabId');
const tabId = named === null ? chrome.devtools?.inspectedWindow.tabId : Number(named);
/** Waterfall shown: the recording or a prediction. */
let shownWaterfall: 'recorded' | 'h1' | 'h2' | 'h3' = 'recorded';
let shown: LatestAnswer | null = null;
const pins = new PinsControl();
let refresh = () => {};

if (tabId === undefined || !Number.isSafeInteger(tabId)) {
  content.replaceChildren(el('p', { class: 'hw-empty' }, 'No tab is named: open this panel in DevTools.'));
} else {
  const which = { tabId };
  const verify = new VerifyControl(which, () => watch.refresh());
  const save = el('button', { type: 'button', class: 'hw-button' }, 'Export JSON');
  save.addEventListener('click', async () => {
    const problem = await saveExport(which);
    if (problem) content.prepend(el('p', { class: 'hw-note' }, problem));
  });
  actions.append(verify.element, save);
  const show = (answer: LatestAnswer) => {
    shown = answer;
    void draw(tabId);
    if (answer.load) void verify.resume();
  };
  const watch = watchLoad(which, show, (problem) =>
    content.replaceChildren(el('p', { class: 'hw-empty' }, problem)),
  );
  refresh = watch.refresh;
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    requestAnimationFrame(() => void draw(tabId));
  });
}

async function draw(tabId: number): Promise<void> {
  if (!shown) return;
  const { load } = shown;
  actions.hidden = load === null;
  page.textContent = load?.recording.url ?? '';
  page.title = load?.recording.url ?? '';
  content.classList.toggle('hw-full', load?.prediction != null);
  pins.begin(shown.loadId);
  if (load) content.replaceChildren(...cardsOf(load));
  else {
    const tab = await chrome.tabs.get(tabId);
    content.replaceChildren(el('p', { class: 'hw-empty' }, whyNothing(shown, tab.url)), pins.element);
  }
}

function cardsOf(load: StoredLoad): HTMLElement[] {
  const prediction = load.verifiedPrediction ?? load.prediction;
  const verified = load.verification ? verifiedOf(load.verification) : undefined;
  if (!prediction) {
    return [
      card('', 'hw-wide', el('p', {}, load.problem), pins.element),
      card('Waterfall', 'hw-wide', renderWaterfall(recordedWaterfall(load.recording), { width: inner() })),
    ];
  }
  const { stopped, leftOut } = load.verification ?? {};
  const comparison = { prediction, verified, stopped, leftOut };
  const inUse = protocolsInUse(load.recording);
  const left = window.innerWidth >= 1060 ? inner() * 0.6 - 40 : inner();
  return [
    card('', 'hw-wide', renderSummary(prediction)),
    card('Load time by protocol', '', renderProtocolChart(comparison, { width: left })),
    card('Median and spread', '', renderTimesTable(comparison)),
    card(
      'Network that the prediction is for',
      'hw-wide',
      renderNetwork(prediction.network),
      networkMemory(load, refresh),
    ),
    card(
      'Best protocol by origin',
      'hw-wide',
      renderOriginTable(prediction, {
        action: (origin) => pins.actionFor(origin, inUse.get(origin.origin)),
      }),
      pins.element,
    ),
    waterfallCard(load),
  ];
}

function waterfallCard(load: StoredLoad): HTMLElement {
  const prediction = (load.verifiedPrediction ?? load.prediction)!;
  const choices = ['recorded' as const, ...PROTOCOLS.filter((protocol) => prediction.waterfall[protocol])];
  if (!choices.includes(shownWaterfall)) shownWaterfall = 'recorded';
  const chart = () => {
    const waterfall =
      shownWaterfall === 'recorded'
        ? recordedWaterfall(load.recording)
        : predictedWaterfall(load.recording, prediction, shownWaterfall);
    return waterfall ? renderWaterfall(waterfall, { width: inner() }) : el('p');
  };
  const holder = el('div', {}, chart());
  const buttons = choices.map((choice) => {
    const label = choice === 'recorded' ? 'As recorded' : `Predicted under ${PROTOCOL_NAME[choice]}`;
    const button = el(
      'button',
      { type: 'button', class: 'hw-button', 'aria-pressed': String(choice === shownWaterfall) },
      label,
    );
    button.addEventListener('click', () => {
      shownWaterfall = choice;
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      holder.replaceChildren(chart());
    });
    return button;
  });
  return card('Waterfall', 'hw-wide', el('div', { class: 'hw-switch' }, ...buttons), holder);
}

function card(title: string, className: string, ...children: HTMLElement[]): HTMLElement {
  return el(
    'section',
    { class: `hw-card ${className}` },
    title === '' ? null : el('h3', {}, title),
    ...children,
  );
}

/** Width inside a card that spans the panel, CSS pixels. */
function inner(): number {
  return Math.max(560, Math.min(document.documentElement.clientWidth, 1240) - 40 - 38);
}
