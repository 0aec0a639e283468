import type { Action, Prediction } from '@hopwise/contract';
import { listPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import { type LatestAnswer, sendLoadRequest } from '../messages/load-messages.ts';
import { ActionControl } from '../pins/page/action-control.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { PinsModel } from '../pins/page/pins-model.ts';
import { findPromised } from '../pins/page/promised-action.ts';
import { UndoControl } from '../pins/page/undo-control.ts';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { announceVerdict } from '../ui/announce-verdict.ts';
import { renderButton } from '../ui/controls.ts';
import { DetailControl } from '../ui/detail-control.ts';
import { builder, visible } from '../ui/dom.ts';
import { describeEmptyTab, describeRefusal, describeUnpredicted, renderEmptyView } from '../ui/empty-view.ts';
import { includeSite, isExcludedSite } from '../ui/excluded-site.ts';
import { renderIncomplete } from '../ui/incomplete-load.ts';
import {
  describeLimits,
  describeNetworkEvidence,
  isH3Unoffered,
  readVerifiedTimes,
  renderNetwork,
  renderProtocolChart,
  renderSummary,
} from '../ui/index.ts';
import { pollLoad } from '../ui/load-polling.ts';
import { renderNetworkMemory } from '../ui/network-memory-control.ts';
import { decideBeyondPins, promisedBy } from '../ui/pin-gain.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import type { OpenedFile } from './emulation/read-file.ts';
import { ExportMenu, type LoadToWrite } from './files/export-menu.ts';
import { ImportControl } from './files/import-control.ts';
import { foldActions } from './fold-actions.ts';
import { MonitorControl } from './history/monitor-control.ts';
import { LoadTabs } from './load-tabs.ts';
import { renderActions } from './overview/actions-table.ts';
import { showChildren } from './show-children.ts';
import { Tabs } from './tabs.ts';

document.documentElement.lang = await loadLanguage();
const el = builder();
const content = document.getElementById('content')!;
/** Above the tabs. */
const notices = el('div', {});
const actions = document.getElementById('actions')!;
const page = document.getElementById('page')!;
const tabPlace = document.getElementById('tabs')!;

/** In DevTools the inspected tab; if the panel is opened as a page, the one in the URL's `tabId`. */
const named = new URLSearchParams(location.search).get('tabId');
const tabId = named === null ? chrome.devtools?.inspectedWindow.tabId : Number(named);
let shown: LatestAnswer | null = null;
/** The file that is shown in place of the tab's load. */
let opened: OpenedFile | null = null;
/** Past the cache, so that the load can be compared with those before it. */
const reload = async () => {
  if (tabId !== undefined) await chrome.tabs.reload(tabId, { bypassCache: true });
};
const model = new PinsModel();
const pins = new PinsControl(model);
const pinsBelow = el('div', { class: 'hw-card' });
const action = new ActionControl(model, reload);
const undo = new UndoControl(model, reload);
const detail = new DetailControl(reload);
/** What the pins in force promise, where the decision recommends something else. */
let promised: Action | null = null;
model.onChange(() => {
  const decision = !opened && shown?.load && predictionOf(shown.load)?.decision;
  if (decision && findPromised(decision, model) !== promised) void draw();
});
/** Whether the overview has room for more than it shows in a docked panel, without scrolling. */
const isTall = window.matchMedia('(min-height: 450px)');
let refresh = () => {};
/** Why a load has no prediction. Another load of the tab changes nothing about that of a file. */
const renderProblem = ({ problem }: StoredLoad) =>
  opened ? el('p', { class: 'hw-card' }, problem) : renderEmptyView(describeUnpredicted(problem, reload));
const loadTabs = new LoadTabs(renderProblem);
const monitor = new MonitorControl(
  () => shown?.load?.recording.url ?? null,
  () => refresh(),
);
const tabs = new Tabs([
  { id: 'overview', label: t('panelOverview'), render: () => withLoad(renderOverview) },
  { id: 'origins', label: t('panelOrigins'), render: () => withLoad(renderOrigins) },
  {
    id: 'waterfall',
    label: t('panelWaterfall'),
    render: () => withLoad((load) => [loadTabs.problem, loadTabs.waterfall(load)]),
  },
  {
    id: 'connections',
    label: t('panelConnections'),
    render: () => withLoad((load) => [loadTabs.problem, loadTabs.connections(load)]),
  },
  {
    id: 'graph',
    label: t('panelGraph'),
    render: () => withLoad((load) => [loadTabs.problem, loadTabs.graph(load)]),
  },
  {
    id: 'what-if',
    label: t('panelWhatIf'),
    render: () => withLoad((load) => [loadTabs.problem, loadTabs.whatIf(load)]),
  },
  {
    id: 'servers',
    label: t('panelServers'),
    render: () => withLoad((load) => [loadTabs.problem, loadTabs.servers(load)]),
  },
  {
    id: 'history',
    label: t('panelHistory'),
    render: () => withLoad((load) => [loadTabs.history(load), ...(opened ? [] : [monitor.element])]),
  },
]);

const isInspecting = tabId !== undefined && Number.isSafeInteger(tabId);
const which = { tabId };
const verify = new VerifyControl(which, () => refresh(), true);
const files = new ImportControl((file) => {
  opened = file;
  void draw();
});
const save = new ExportMenu(readExport, (problem) => {
  files.status.textContent = problem;
});
actions.append(verify.element, save.element, files.element);
foldActions(document.getElementById('more') as HTMLButtonElement, actions);
if (isInspecting) {
  const show = (answer: LatestAnswer) => {
    shown = answer;
    // An opened file stays until it is closed.
    if (!opened) void draw();
    if (answer.load) void verify.resume();
  };
  refresh = pollLoad(which, show, fail).refresh;
} else void draw();
const redrawOverview = () => {
  if (tabs.selected === 'overview') requestAnimationFrame(() => void draw());
};
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  // Its chart is as wide as the panel.
  redrawOverview();
});
isTall.addEventListener('change', redrawOverview);

async function draw(): Promise<void> {
  const load = opened?.load ?? shown?.load ?? null;
  verify.element.hidden = opened !== null || load === null;
  save.element.hidden = load === null;
  save.offerQueries(!opened && shown?.canExportQueries === true);
  page.textContent = visible(load?.recording.url ?? '');
  page.title = page.textContent;
  pins.resetOrigins(opened ? null : (shown?.loadId ?? null));
  const prediction = load && predictionOf(load);
  const pinGain = opened ? null : (shown?.pinGain ?? null);
  promised = opened ? null : prediction && findPromised(prediction.decision, model);
  action.show(opened ? null : prediction && decideBeyondPins(prediction.decision, pinGain, promised));
  undo.show(
    opened ? [] : (prediction?.origins.map(({ origin }) => origin) ?? []),
    pinGain,
    action.isOffered,
    shown?.load && !shown.incomplete?.isReplaced ? listPinnedProtocols(shown.load) : null,
  );
  announceVerdict(prediction && promisedBy(prediction, promised), pinGain);
  if (load) {
    tabs.draw();
    const above = opened ? [renderOpened(opened)] : renderIncomplete(shown!.incomplete, reload);
    showChildren(tabPlace, [tabs.bar]);
    void detail.show(opened ? null : load);
    notices.replaceChildren(...above, verify.state, detail.element);
    showChildren(content, [files.status, notices, tabs.panel]);
  } else {
    const answer = shown;
    const nothing = await renderNothing();
    // A load may have come, or a file been opened, in between.
    if (shown !== answer || opened) return;
    tabPlace.replaceChildren();
    content.replaceChildren(files.status, nothing, pins.lifted, pins.element);
  }
}

function fail(problem: string): void {
  content.replaceChildren(renderEmptyView(describeRefusal(problem, () => refresh())));
}

/** Why there is no load to show, and what a person can do. */
async function renderNothing(): Promise<HTMLElement> {
  const open = { words: t('fileOpen'), run: () => files.choose() };
  if (!isInspecting) {
    return renderEmptyView({ name: t('panelNoTabName'), text: t('panelNoTab'), action: open });
  }
  if (!shown) return el('p', { class: 'hw-empty' });
  const tab = await chrome.tabs.get(tabId!).catch(() => null);
  if (tab === null)
    return renderEmptyView({ name: t('emptyClosedName'), text: t('emptyClosed'), action: open });
  const { url } = tab;
  const recordAgain = async () => {
    const problem = await includeSite(url ?? '');
    if (problem !== '') return fail(problem);
    await reload();
  };
  const isExcluded = url !== undefined && (await isExcludedSite(url));
  const view = describeEmptyTab({ answer: shown, url, isExcluded, reload, recordAgain });
  return view ? renderEmptyView(view) : el('p', { class: 'hw-empty', role: 'status' }, t('emptyLoading'));
}

/** @throws Error with a message to show */
async function readExport(withQueries: boolean): Promise<LoadToWrite> {
  if (opened) {
    const { id: _id, requestedUrl: _requestedUrl, storedAtMs: _storedAtMs, ...fields } = opened.load;
    return { load: { format: 'hopwise-load', version: 1, ...fields }, pinGain: null };
  }
  const answer = await sendLoadRequest({ type: 'export', ...which, withQueries });
  if (!answer.ok) throw new Error(answer.error);
  return { load: answer.export, pinGain: shown?.pinGain ?? null };
}

function renderOpened({ name, notes }: OpenedFile): HTMLElement {
  const close = renderButton(t('panelCloseFile'), () => {
    opened = null;
    void draw();
  });
  const text = [t('panelShowing', { name }), ...notes].map((sentence) => `${sentence}.`).join(' ');
  return el('section', { class: 'hw-file', 'aria-label': t('panelFile') }, el('p', {}, text), close);
}

const withLoad = (render: (load: StoredLoad) => HTMLElement[]): HTMLElement[] => {
  const load = opened?.load ?? shown?.load;
  return load ? render(load) : [];
};

function renderOverview(load: StoredLoad): HTMLElement[] {
  const prediction = predictionOf(load);
  const control = opened ? [] : [pins.lifted, pins.element];
  if (!prediction) return [renderProblem(load), ...control];
  const verified = load.verification ? readVerifiedTimes(load.verification, prediction.decision) : undefined;
  const { stopped, leftOut } = load.verification ?? {};
  const isH3Hypothetical = isH3Unoffered(load.recording, prediction);
  const comparison = { prediction, verified, stopped, leftOut, isH3Hypothetical };
  const limits = describeLimits(comparison);
  const weighed = isTall.matches ? renderActions(prediction.decision) : null;
  const openGraph = () => tabs.select('graph');
  return [
    renderCard(
      '',
      renderSummary(prediction, {
        controls: [action.element, undo.element, ...(opened ? [] : [pins.lifted])],
        pinGain: opened ? null : shown?.pinGain,
        pinned: listPinnedProtocols(load),
        promised,
      }),
    ),
    el(
      'div',
      { class: 'hw-overview' },
      renderCard(
        t('chartTitle'),
        renderProtocolChart(comparison, { width: chartWidthPx() }),
        ...(limits === '' ? [] : [el('p', { class: 'hw-note' }, limits)]),
      ),
      renderCard(
        t('panelNetwork'),
        ...(prediction.fit.understood ? [] : [el('p', { class: 'hw-doubt' }, t('networkDoubtful'))]),
        renderNetwork(prediction.network),
        opened
          ? el('p', { class: 'hw-note' }, describeNetworkEvidence(null, load.recording.recordedAt))
          : renderNetworkMemory(load, () => refresh()),
      ),
    ),
    ...(weighed === null ? [] : [renderCard(t('weighedTitle'), weighed)]),
    ...(isTall.matches
      ? [renderCard(t('overviewWaits'), loadTabs.waits(load, prediction, openGraph), loadTabs.problem)]
      : []),
  ];
}

function renderOrigins(load: StoredLoad): HTMLElement[] {
  const action = (origin: string, { decision }: Prediction) =>
    opened ? null : pins.renderAction(origin, decision);
  pinsBelow.replaceChildren(pins.lifted, pins.element);
  const decision = predictionOf(load)?.decision;
  const isSettled =
    !opened && decision !== undefined && decideBeyondPins(decision, shown!.pinGain, promised) === null;
  return [loadTabs.problem, loadTabs.origins(load, action, opened ? null : pinsBelow, isSettled)];
}

function renderCard(title: string, ...children: HTMLElement[]): HTMLElement {
  return el('section', { class: 'hw-card' }, title === '' ? null : el('h3', {}, title), ...children);
}

/** From this width of the panel on the chart has the network beside it, CSS pixels. As in panel.css. */
const WIDE_PX = 700;
const MAX_CHART_PX = 760;
/** A card's padding on both sides. */
const CARD_EDGES_PX = 24;

/** Width of the chart, CSS pixels. */
function chartWidthPx(): number {
  const width = document.documentElement.clientWidth;
  return Math.min(MAX_CHART_PX, (width >= WIDE_PX ? 0.62 * width : width) - CARD_EDGES_PX);
}
