import type { PinGain } from '../evidence/pin-outcomes.ts';
import { listPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import type { LatestAnswer } from '../messages/load-messages.ts';
import { ActionControl } from '../pins/page/action-control.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { PinsModel } from '../pins/page/pins-model.ts';
import { UndoControl } from '../pins/page/undo-control.ts';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { announceVerdict } from '../ui/announce-verdict.ts';
import { readVerifiedTimes } from '../ui/comparison.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { explainEmptyState } from '../ui/empty-state.ts';
import { ExportControl } from '../ui/export-control.ts';
import { renderIncomplete } from '../ui/incomplete-load.ts';
import { pollLoad } from '../ui/load-polling.ts';
import { renderMissingTimes } from '../ui/missing-times.ts';
import { renderNetworkMemory } from '../ui/network-memory-control.ts';
import { renderOriginTable } from '../ui/origin-table.ts';
import { decideBeyondPins } from '../ui/pin-gain.ts';
import { renderSavedTime } from '../ui/saved-time.ts';
import { renderSiteAccessRequest } from '../ui/site-access-control.ts';
import { renderSummary } from '../ui/summary.ts';
import { renderTimesTable } from '../ui/times-table.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import { renderAutopilotSection } from './autopilot-section.ts';

const SHOWN_ORIGINS = 5;

document.documentElement.lang = await loadLanguage();
const el = builder();
const content = document.getElementById('content')!;
const actions = document.getElementById('actions')!;
const options = document.getElementById('options')!;
options.textContent = t('popupOptions');
options.addEventListener('click', () => void chrome.runtime.openOptionsPage());

/** Finds the active tab, or the one in the URL's `tabId` if the popup is opened as a page. */
async function findTab(): Promise<chrome.tabs.Tab | undefined> {
  const named = new URLSearchParams(location.search).get('tabId');
  if (named !== null) {
    document.body.classList.add('as-page');
    return chrome.tabs.get(Number(named));
  }
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab;
}

const tab = await findTab();
void Promise.all([renderSavedTime(), renderAutopilotSection(tab?.url ?? '')]).then((always) =>
  options.parentElement!.before(...always),
);
if (tab?.id === undefined) {
  content.replaceChildren(el('p', { class: 'hw-empty' }, t('popupNoTab')));
} else {
  const which = { tabId: tab.id };
  const { id } = tab;
  // Past the cache, so that the load can be compared with those before it.
  const reload = () => chrome.tabs.reload(id, { bypassCache: true });
  const accessRequest = await renderSiteAccessRequest(tab.url);
  if (accessRequest) content.before(accessRequest);
  const model = new PinsModel();
  const pins = new PinsControl(model);
  const action = new ActionControl(model, reload);
  const undo = new UndoControl(model);
  content.after(pins.element);
  const verify = new VerifyControl(which, () => polling.refresh());
  const save = new ExportControl(which, (problem) => content.append(el('p', { class: 'hw-note' }, problem)));
  actions.append(verify.element, save.element);
  const showMessage = (text: string) =>
    content.replaceChildren(el('p', { class: 'hw-empty' }, text), pins.lifted);
  const show = (answer: LatestAnswer) => {
    actions.hidden = answer.load === null;
    pins.resetOrigins(answer.loadId);
    save.offerQueries(answer.canExportQueries);
    const prediction = answer.load && predictionOf(answer.load);
    action.show(prediction && decideBeyondPins(prediction.decision, answer.pinGain), answer.load);
    undo.show(prediction?.origins.map(({ origin }) => origin) ?? [], answer.pinGain);
    announceVerdict(prediction, answer.pinGain);
    if (answer.load) {
      content.replaceChildren(
        ...renderIncomplete(answer.incomplete, reload),
        ...renderViews(answer.load, answer.pinGain, [action.element, undo.element, pins.lifted], pins, () =>
          polling.refresh(),
        ),
      );
      void verify.resume();
    } else {
      showMessage(explainEmptyState(answer, tab.url));
      if (answer.phase === 'none' && /^https?:/.test(tab.url ?? ''))
        content.append(el('div', {}, renderButton(t('popupReload'), reload)));
    }
  };
  const polling = pollLoad(which, show, showMessage);
}

function renderViews(
  load: StoredLoad,
  pinGain: PinGain | null,
  controls: readonly HTMLElement[],
  pins: PinsControl,
  refresh: () => void,
): HTMLElement[] {
  const prediction = predictionOf(load);
  if (!prediction) return [el('p', { class: 'hw-empty' }, load.problem), pins.lifted];
  const verified = load.verification ? readVerifiedTimes(load.verification, prediction.decision) : undefined;
  const { stopped, leftOut } = load.verification ?? {};
  const comparison = { prediction, verified, stopped, leftOut };
  return [
    renderSummary(prediction, { controls, pinGain, pinned: listPinnedProtocols(load) }),
    el('section', {}, renderTimesTable(comparison, { bars: true }), ...renderMissingTimes(comparison)),
    el(
      'section',
      {},
      el('h3', {}, t('popupByOrigin')),
      renderOriginTable(prediction, {
        limit: SHOWN_ORIGINS,
        brief: true,
        action: ({ origin }) => pins.renderAction(origin, prediction.decision),
      }),
    ),
    ...(load.cluster ? [renderNetworkMemory(load, refresh)] : []),
  ];
}
