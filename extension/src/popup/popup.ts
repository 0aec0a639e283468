import type { Action } from '@hopwise/contract';
import { listPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { HelperWatch } from '../helper/helper-watch.ts';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import type { LatestAnswer } from '../messages/load-messages.ts';
import { ActionControl } from '../pins/page/action-control.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { PinsModel } from '../pins/page/pins-model.ts';
import { findPromised } from '../pins/page/promised-action.ts';
import { UndoControl } from '../pins/page/undo-control.ts';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { announceVerdict } from '../ui/announce-verdict.ts';
import { readVerifiedTimes } from '../ui/comparison.ts';
import { DetailControl } from '../ui/detail-control.ts';
import { builder } from '../ui/dom.ts';
import {
  describeEmptyTab,
  describeRefusal,
  describeUnpredicted,
  type EmptyView,
  renderEmptyView,
  showFirstSteps,
} from '../ui/empty-view.ts';
import { includeSite, isExcludedSite } from '../ui/excluded-site.ts';
import { renderIncomplete } from '../ui/incomplete-load.ts';
import { renderInstallButton } from '../ui/install-helper.ts';
import { pollLoad } from '../ui/load-polling.ts';
import { renderMissingTimes } from '../ui/missing-times.ts';
import { renderNetworkMemory } from '../ui/network-memory-control.ts';
import { isVerified } from '../ui/origin-advice.ts';
import { renderOriginTable } from '../ui/origin-table.ts';
import { decideBeyondPins, promisedBy } from '../ui/pin-gain.ts';
import { renderSavedTime } from '../ui/saved-time.ts';
import { renderGrounds, renderInstruction } from '../ui/summary.ts';
import { renderTimesTable } from '../ui/times-table.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import { renderAutopilot } from './autopilot-section.ts';
import { ExportControl } from './export-control.ts';
import { renderSiteAccessRequest } from './site-access-control.ts';
import { renderSkeleton } from './skeleton.ts';
import { renderVerdict } from './verdict.ts';

const SHOWN_ORIGINS = 5;

document.documentElement.lang = await loadLanguage();
const el = builder();
const place = (id: string) => document.getElementById(id)!;
const content = place('content');
const controls = place('controls');
const more = place('more');
const options = place('options');
options.textContent = t('popupOptions');
options.addEventListener('click', () => void chrome.runtime.openOptionsPage());
place('details').querySelector('summary')!.textContent = t('popupDetails');

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

const helper = new HelperWatch();
const tab = await findTab();
const pageUrl = /^https?:/.test(tab?.url ?? '') ? tab!.url! : '';
const all = el('div', {});
void renderAutopilot(pageUrl, helper).then(({ section, details }) => {
  place('autopilot').setAttribute('aria-label', t('autopilotTitle'));
  place('autopilot').replaceChildren(...section);
  place('autopilot').hidden = false;
  all.replaceChildren(...details);
});
void renderSavedTime().then((line) => place('state').append(line));

const showEmpty = (view: EmptyView) => {
  content.replaceChildren(renderEmptyView(view));
  content.removeAttribute('aria-busy');
};
const showWaiting = (words: string) => {
  content.replaceChildren(...renderSkeleton(words));
  content.setAttribute('aria-busy', 'true');
};

if (tab?.id === undefined) {
  showEmpty({ name: t('popupNoTab'), text: '', action: showFirstSteps() });
  more.replaceChildren(all);
} else {
  showWaiting(t('popupPredicting'));
  await showTab(tab.id, tab.url);
}

async function showTab(tabId: number, url: string | undefined): Promise<void> {
  const which = { tabId };
  // Past the cache, so that the load can be compared with those before it.
  const reload = () => chrome.tabs.reload(tabId, { bypassCache: true });
  const accessRequest = await renderSiteAccessRequest(url);
  if (accessRequest) place('access').replaceChildren(accessRequest);
  const model = new PinsModel();
  const pins = new PinsControl(model);
  const action = new ActionControl(model, reload, helper);
  const undo = new UndoControl(model, reload);
  const detail = new DetailControl(reload);
  const verify = new VerifyControl(which, () => polling.refresh());
  const save = new ExportControl(which, (problem) => more.append(el('p', { class: 'hw-note' }, problem)));
  const install = renderInstallButton();
  const toVerify = el('div', { class: 'hw-to-verify' });
  const tools = el('div', { class: 'hw-tools' });
  const incomplete = el('div', {});
  controls.append(action.element, toVerify, undo.element);
  place('state').prepend(pins.lifted, incomplete);

  /** Puts the button that verifies where it is the one thing to do, or below. */
  const placeVerify = (isMain: boolean) => {
    if (isMain) void helper.lookOnce();
    const ofMain = helper.isMissing
      ? [install, el('p', { class: 'hw-note' }, t('actionNeedsHelper'))]
      : [verify.element];
    toVerify.replaceChildren(...(isMain ? ofMain : []));
    tools.replaceChildren(...(isMain ? [] : [verify.element]), save.element);
  };
  let toBeVerified = false;
  helper.onChange(() => placeVerify(toBeVerified));

  const recordAgain = async () => {
    const problem = await includeSite(url ?? '');
    if (problem !== '') return fail(problem);
    await reload();
  };

  let shown: LatestAnswer | null = null;
  /** What pins that the shown load may not have had promise, where the decision recommends something else. */
  let promised: Action | null = null;
  const hideEmptyDetails = () => {
    place('details').hidden = !shown?.load && model.pins.length === 0;
  };
  model.onChange(() => {
    hideEmptyDetails();
    const decision = shown?.load && predictionOf(shown.load)?.decision;
    if (decision && findPromised(decision, model) !== promised) void show(shown!);
  });
  const show = async (answer: LatestAnswer) => {
    shown = answer;
    hideEmptyDetails();
    const { load, pinGain } = answer;
    const prediction = load && predictionOf(load);
    promised = prediction && findPromised(prediction.decision, model);
    const decision = prediction && decideBeyondPins(prediction.decision, pinGain, promised);
    toBeVerified = decision?.kind === 'unsure' && !isVerified(decision);
    pins.resetOrigins(answer.loadId);
    save.offerQueries(answer.canExportQueries);
    action.show(decision, load);
    undo.show(
      prediction?.origins.map(({ origin }) => origin) ?? [],
      pinGain,
      action.isOffered,
      load && !answer.incomplete?.isReplaced ? listPinnedProtocols(load) : null,
    );
    const headlined = prediction && promisedBy(prediction, promised);
    announceVerdict(headlined, pinGain);
    incomplete.replaceChildren(...renderIncomplete(answer.incomplete, reload));
    placeVerify(toBeVerified);
    if (load) {
      void detail.show(load);
      void verify.resume();
      more.replaceChildren(
        ...renderDetails(load, { pinGain, promised }, pins, () => polling.refresh()),
        pins.element,
        detail.element,
        tools,
        all,
      );
      if (headlined) {
        content.replaceChildren(renderVerdict(headlined, load, pinGain));
        content.removeAttribute('aria-busy');
      } else showEmpty(describeUnpredicted(load.problem, reload));
      return;
    }
    more.replaceChildren(pins.element, all);
    const isExcluded = url !== undefined && (await isExcludedSite(url));
    if (shown !== answer) return;
    const view = describeEmptyTab({ answer, url, isExcluded, reload, recordAgain });
    if (view === null) showWaiting(t('emptyLoadingName'));
    // Where access is missing, the request for it is what a person can do.
    else if (accessRequest && answer.phase === 'none') {
      content.replaceChildren();
      content.removeAttribute('aria-busy');
    } else showEmpty(view);
  };
  const fail = (problem: string) => showEmpty(describeRefusal(problem, () => polling.refresh()));
  const polling = pollLoad(which, (answer) => void show(answer), fail);
}

function renderDetails(
  load: StoredLoad,
  { pinGain, promised }: Pick<LatestAnswer, 'pinGain'> & { promised: Action | null },
  pins: PinsControl,
  refresh: () => void,
): HTMLElement[] {
  const prediction = predictionOf(load);
  if (!prediction) return [];
  const verified = load.verification ? readVerifiedTimes(load.verification, prediction.decision) : undefined;
  const { stopped, leftOut } = load.verification ?? {};
  const comparison = { prediction, verified, stopped, leftOut };
  const decided = { pinGain, promised, pinned: listPinnedProtocols(load) };
  return [
    el(
      'section',
      { class: 'hw-grounds' },
      ...renderInstruction(prediction, decided),
      ...renderGrounds(prediction, decided),
    ),
    el('section', {}, renderTimesTable(comparison, { bars: true }), ...renderMissingTimes(comparison)),
    el(
      'section',
      {},
      el('h3', {}, t('popupByOrigin')),
      renderOriginTable(prediction, {
        limit: SHOWN_ORIGINS,
        brief: true,
        isSettled: decideBeyondPins(prediction.decision, pinGain, promised) === null,
        action: ({ origin }) => pins.renderAction(origin, prediction.decision),
      }),
    ),
    ...(load.cluster ? [renderNetworkMemory(load, refresh)] : []),
  ];
}
