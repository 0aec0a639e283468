import type { LatestAnswer } from '../messages/load-messages.ts';
import { ActionControl } from '../pins/page/action-control.ts';
import { PinsControl } from '../pins/page/pins-control.ts';
import { PinsModel } from '../pins/page/pins-model.ts';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { announceVerdict } from '../ui/announce-verdict.ts';
import { builder } from '../ui/dom.ts';
import { explainEmptyState } from '../ui/empty-state.ts';
import { ExportControl } from '../ui/export-control.ts';
import { renderIncomplete } from '../ui/incomplete-load.ts';
import {
  readVerifiedTimes,
  renderNetwork,
  renderOriginTable,
  renderProtocolChart,
  renderSummary,
  renderTimesTable,
} from '../ui/index.ts';
import { pollLoad } from '../ui/load-polling.ts';
import { renderNetworkMemory } from '../ui/network-memory-control.ts';
import { VerifyControl } from '../ui/verify-control.ts';
import { LoadTabs } from './load-tabs.ts';
import { Tabs } from './tabs.ts';

const el = builder();
const content = document.getElementById('content')!;
const actions = document.getElementById('actions')!;
const page = document.getElementById('page')!;

/** In DevTools the inspected tab; if the panel is opened as a page, the one in the URL's `tabId`. */
const named = new URLSearchParams(location.search).get('tabId');
const tabId = named === null ? chrome.devtools?.inspectedWindow.tabId : Number(named);
let shown: LatestAnswer | null = null;
/** Past the cache, so that the load can be compared with those before it. */
const reload = async () => {
  if (tabId !== undefined) await chrome.tabs.reload(tabId, { bypassCache: true });
};
const model = new PinsModel();
const pins = new PinsControl(model);
const action = new ActionControl(model, reload);
let refresh = () => {};
const loadTabs = new LoadTabs();
const tabs = new Tabs([
  { id: 'overview', label: 'Overview', render: () => withLoad(renderOverview) },
  { id: 'origins', label: 'Origins', render: () => withLoad(renderOrigins) },
  { id: 'waterfall', label: 'Waterfall', render: () => withLoad((load) => [loadTabs.waterfall(load)]) },
  { id: 'connections', label: 'Connections', render: () => withLoad((load) => [loadTabs.connections(load)]) },
  { id: 'what-if', label: 'What if', render: () => withLoad((load) => [loadTabs.whatIf(load)]) },
]);

if (tabId === undefined || !Number.isSafeInteger(tabId)) {
  content.replaceChildren(
    el('p', { class: 'hw-empty' }, 'There is no inspected tab. Open this panel in DevTools.'),
  );
} else {
  const which = { tabId };
  const verify = new VerifyControl(which, () => polling.refresh());
  const save = new ExportControl(which, (problem) => content.prepend(el('p', { class: 'hw-note' }, problem)));
  actions.append(verify.element, save.element);
  const show = (answer: LatestAnswer) => {
    shown = answer;
    save.offerQueries(answer.canExportQueries);
    void draw(tabId);
    if (answer.load) void verify.resume();
  };
  const polling = pollLoad(which, show, (problem) =>
    content.replaceChildren(el('p', { class: 'hw-empty' }, problem)),
  );
  refresh = polling.refresh;
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
  pins.resetOrigins(shown.loadId);
  action.show(load ? (predictionOf(load)?.decision ?? null) : null);
  announceVerdict(load && predictionOf(load));
  if (load) {
    tabs.draw();
    content.replaceChildren(...renderIncomplete(shown.incomplete, reload), tabs.list, tabs.panel);
  } else {
    const tab = await chrome.tabs.get(tabId);
    content.replaceChildren(el('p', { class: 'hw-empty' }, explainEmptyState(shown, tab.url)), pins.element);
  }
}

const withLoad = (render: (load: StoredLoad) => HTMLElement[]): HTMLElement[] =>
  shown?.load ? render(shown.load) : [];

function renderOverview(load: StoredLoad): HTMLElement[] {
  const prediction = predictionOf(load);
  if (!prediction) return [renderCard('', 'hw-wide', el('p', {}, load.problem), pins.element)];
  const verified = load.verification ? readVerifiedTimes(load.verification, prediction.decision) : undefined;
  const { stopped, leftOut } = load.verification ?? {};
  const comparison = { prediction, verified, stopped, leftOut };
  const left = window.innerWidth >= 1060 ? innerWidthPx() * 0.6 - 40 : innerWidthPx();
  return [
    renderCard('', 'hw-wide', renderSummary(prediction, { action: action.element })),
    renderCard('Load time by protocol', '', renderProtocolChart(comparison, { width: left })),
    renderCard('Median and spread', '', renderTimesTable(comparison)),
    renderCard(
      'Network assumed by the prediction',
      'hw-wide',
      renderNetwork(prediction.network),
      renderNetworkMemory(load, refresh),
    ),
  ];
}

function renderOrigins(load: StoredLoad): HTMLElement[] {
  const prediction = predictionOf(load);
  return [
    renderCard(
      'What to do by origin',
      'hw-wide',
      prediction
        ? renderOriginTable(prediction, {
            action: ({ origin }) => pins.renderAction(origin, prediction.decision),
          })
        : el('p', {}, load.problem),
      pins.element,
    ),
  ];
}

function renderCard(title: string, className: string, ...children: HTMLElement[]): HTMLElement {
  return el(
    'section',
    { class: `hw-card ${className}` },
    title === '' ? null : el('h3', {}, title),
    ...children,
  );
}

/** Width inside a card that spans the panel, in CSS pixels. */
function innerWidthPx(): number {
  return Math.min(document.documentElement.clientWidth, 1240) - 40 - 38;
}
