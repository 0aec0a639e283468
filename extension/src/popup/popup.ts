import { networkMemory } from '../controls/network-memory.ts';
import { whyNothing } from '../controls/nothing-recorded.ts';
import { pageAccess } from '../controls/page-access.ts';
import { PinsControl } from '../controls/pins-control.ts';
import { saveExport } from '../controls/save-export.ts';
import { protocolsInUse } from '../controls/useful-pins.ts';
import { VerifyControl } from '../controls/verify-control.ts';
import { watchLoad } from '../controls/watch-load.ts';
import type { LatestAnswer } from '../messages/page-messages.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { verifiedOf } from '../views/comparison.ts';
import { builder } from '../views/dom.ts';
import { renderGaps } from '../views/gaps.ts';
import { renderOriginTable } from '../views/origin-table.ts';
import { renderSummary } from '../views/summary.ts';
import { renderTimesTable } from '../views/times-table.ts';

const SHOWN_ORIGINS = 5;

const el = builder();
const content = document.getElementById('content')!;
const actions = document.getElementById('actions')!;

/** The tab in front, or the one named in the URL when the popup is opened as a page. */
async function tabOfPopup(): Promise<chrome.tabs.Tab | undefined> {
  const named = new URLSearchParams(location.search).get('tabId');
  if (named !== null) return chrome.tabs.get(Number(named));
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab;
}

const ask = await pageAccess();
if (ask) content.before(ask);
const tab = await tabOfPopup();
if (tab?.id === undefined) {
  content.replaceChildren(el('p', { class: 'hw-empty' }, 'There is no tab to look at.'));
} else {
  const which = { tabId: tab.id };
  const pins = new PinsControl();
  content.after(pins.element);
  const verify = new VerifyControl(which, () => watch.refresh());
  const save = el('button', { type: 'button', class: 'hw-button' }, 'Export JSON');
  save.addEventListener('click', async () => {
    const problem = await saveExport(which);
    if (problem) content.append(el('p', { class: 'hw-note' }, problem));
  });
  actions.append(verify.element, save);
  const sayWhy = (text: string) => content.replaceChildren(el('p', { class: 'hw-empty' }, text));
  const show = (answer: LatestAnswer) => {
    actions.hidden = answer.load === null;
    pins.begin(answer.loadId);
    if (answer.load) {
      content.replaceChildren(...viewsOf(answer.load, pins, () => watch.refresh()));
      void verify.resume();
    } else sayWhy(whyNothing(answer, tab.url));
  };
  const watch = watchLoad(which, show, sayWhy);
}

function viewsOf(load: StoredLoad, pins: PinsControl, refresh: () => void): HTMLElement[] {
  const prediction = load.verifiedPrediction ?? load.prediction;
  if (!prediction) return [el('p', { class: 'hw-empty' }, load.problem)];
  const verified = load.verification ? verifiedOf(load.verification) : undefined;
  const inUse = protocolsInUse(load.recording);
  const { stopped, leftOut } = load.verification ?? {};
  const comparison = { prediction, verified, stopped, leftOut };
  return [
    renderSummary(prediction),
    el('section', {}, renderTimesTable(comparison), ...renderGaps(comparison)),
    el(
      'section',
      {},
      el('h3', {}, 'By origin'),
      renderOriginTable(prediction, {
        limit: SHOWN_ORIGINS,
        brief: true,
        action: (origin) => pins.actionFor(origin, inUse.get(origin.origin)),
      }),
    ),
    ...(load.cluster ? [networkMemory(load, refresh)] : []),
  ];
}
