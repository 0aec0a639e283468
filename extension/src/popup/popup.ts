import type { LatestAnswer } from '../messages/page-messages.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { protocolsInUse } from '../pins/page/pin-suggestions.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { verifiedOf } from '../ui/comparison.ts';
import { builder } from '../ui/dom.ts';
import { renderGaps } from '../ui/missing-times.ts';
import { networkMemory } from '../ui/network-memory-control.ts';
import { whyNothing } from '../ui/empty-state.ts';
import { renderOriginTable } from '../ui/origin-table.ts';
import { pageAccess } from '../ui/host-permission-control.ts';
import { saveExport } from '../ui/export-download.ts';
import { renderSummary } from '../ui/summary.ts';
import { renderTimesTable } from '../ui/times-table.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import { watchLoad } from '../ui/load-polling.ts';

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
