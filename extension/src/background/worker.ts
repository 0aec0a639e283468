/** Entry point of the extension's worker: handles browser events, and messages of content scripts and of the extension's pages. */
import { StartRateAnnouncer } from '../announce/announcer.ts';
import { Autopilot } from '../autopilot/autopilot.ts';
import { removeExpiredExperiences } from '../autopilot/learning/explorer-store.ts';
import { hindersUdp } from '../evidence/known-udp.ts';
import { askForNetworkKey } from '../helper/ask-helper.ts';
import { hasPinPermissions } from '../pins/pin-permissions.ts';
import { AutoPins } from '../pins/worker/auto-pins.ts';
import { PinManager } from '../pins/worker/pin-manager.ts';
import {
  type PageSettled,
  pageSettledSchema,
  pageShownSchema,
  recordingCheckSchema,
} from '../recorder/page-timings.ts';
import { registerContentScript } from '../recorder/register-content-script.ts';
import { listenToFailures } from '../recorder/web-request.ts';
import { endWaiting } from '../storage/detail-permission.ts';
import { loadNetwork } from '../storage/network.ts';
import { readSettings } from '../storage/settings.ts';
import { TransportTrees } from '../trees/transport-trees.ts';
import { openWelcome } from '../welcome/open-welcome.ts';
import { forgetUnrecognisedOffers } from './ask-offers.ts';
import { doChores } from './chores.ts';
import { listenToConnection } from './connection-type.ts';
import { DetailedLoads } from './detailed-loads.ts';
import { DetailedPages } from './detailed-pages.ts';
import { ensureDecision } from './ensure-prediction.ts';
import { eraseAll, forgetPages } from './erase.ts';
import { listenToHistoryDeletions } from './history-deletions.ts';
import { Memory } from './memory.ts';
import { Navigations } from './navigations.ts';
import { examineNetwork, forgetUnrecognisedCheck } from './network-check.ts';
import { leaveNetwork } from './network-memory.ts';
import { noteOutcome } from './note-outcome.ts';
import { OpenReports } from './open-reports.ts';
import { PageRequestHandler } from './page-request-handler.ts';
import { forgetNetworkKey, recogniseNetwork } from './recognise-network.ts';
import {
  beginDetailedLoad,
  findSettledNavigation,
  NO_TAB,
  pageOf,
  type ReportingPage,
} from './reported-load.ts';
import { restIfOrdinary } from './rest-if-ordinary.ts';
import { RestingHosts } from './resting-hosts.ts';
import { storeSettledLoad } from './store-load.ts';
import { type TabLoad, TabLoads } from './tab-loads.ts';
import { noteLoadTime } from './tab-overlap.ts';
import { Verifications } from './verifications.ts';

// First, because the browser's proxy settings may still point to a helper that no longer runs.
const pins = new PinManager();
const detailedPages = new DetailedPages();
const loads = new TabLoads((tabId, load) => void startLoad(tabId, load));
const detailedLoads = new DetailedLoads(loads, detailedPages);
const autopilot = new Autopilot(pins, ensureDecision);
const verifications = new Verifications((loadId) => void autopilot.handleVerification(loadId));
const memory = new Memory(loads, verifications);
const announcer = new StartRateAnnouncer();
const resting = new RestingHosts();
const places = { memory, autopilot, detailedPages, announcer, resting };
/** What recorded loads lead to, as far as it is under way. */
const handling = new Set<Promise<void>>();
const trees = new TransportTrees();
const openReports = new OpenReports();
const autoPins = new AutoPins({
  steer: (origin, protocol) => pins.steer(origin, protocol),
  mayTryQuic: async () => !hindersUdp({ cluster: await loadNetwork() }),
  predict: (row, transport) => trees.predict(row, transport),
  releaseTrees: () => trees.release(),
});
pins.onExchanges((origin, exchanges) => void autoPins.handle(origin, exchanges));

const navigations = new Navigations(
  loads,
  async () => {
    const { recordsInDetail, announcesStartRate } = await readSettings();
    return recordsInDetail || announcesStartRate;
  },
  handleNetworkChange,
  (url, acceptCh) => {
    if (!loads.excludedSites.has(url)) void announcer.handleHintsAsked(url, acceptCh);
  },
);
const pageRequests = new PageRequestHandler({
  ...places,
  detailedLoads,
  loads,
  navigations,
  pins,
  verifications,
  waitUntilHandled: () => Promise.allSettled(handling),
});
self.addEventListener('offline', handleNetworkChange);
self.addEventListener('online', () => void forgetNetworkKey().then(prepareForNetwork));
listenToConnection(handleNetworkChange);
let endListeningToFailures: (() => void) | null = null;
pins.onChange(() => {
  void pins.listPins().then((all) => autoPins.handlePins(all));
  // Pins do harm where requests fail. The helper's port keeps the worker running meanwhile.
  if (isAnyPinActive()) {
    endListeningToFailures ??= listenToFailures(loads, handleNetworkChange);
    // What they gain is measured.
    void resting.wakeAll();
  } else {
    endListeningToFailures?.();
    endListeningToFailures = null;
  }
});
listenToHistoryDeletions(
  () => void eraseAll(places),
  (urls) => void forgetPages(urls, places),
);
// Registering for this event also makes the browser start the worker when it starts itself.
chrome.runtime.onStartup.addListener(() => {
  void registerContentScript().then(() => resting.wakeAll());
  void endWaiting();
  void pins.handleBrowserStart().then(prepareForNetwork);
  void announcer.handleBrowserStart(recognise);
});
chrome.runtime.onInstalled.addListener(({ reason }) => {
  void registerContentScript();
  void openWelcome(reason);
});
chrome.permissions.onRemoved.addListener(({ permissions = [] }) => {
  void pins.handlePermissionRemoval();
  if (permissions.includes('webRequest')) void detailedPages.forgetAll();
});

chrome.runtime.onMessage.addListener((message: unknown, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return undefined;
  if (isOwnPage(sender)) {
    void pageRequests.handle(message).then(answer);
    return true;
  }
  const check = recordingCheckSchema.safeParse(message);
  if (check.success) {
    const { isDetailed, timeOrigin } = check.data;
    answerCheck(sender, isDetailed, timeOrigin).then(answer, () => answer(false));
    return true;
  }
  // Before its content is read, which takes time as well.
  if (openReports.isFull(sender.tab?.id ?? NO_TAB)) return undefined;
  const settled = pageSettledSchema.safeParse(message);
  if (settled.success) {
    const { timings, leftMs } = settled.data;
    const page = pageOf(sender, timings.timeOrigin, leftMs);
    if (!page) return undefined;
    // Without an answer the page reports again: the browser may stop the worker before the load is stored.
    const stored = openReports
      .count(page.tabId, storeReported(page, settled.data))
      .finally(() => answer(true));
    void stored.then((navigationId) => handleReported(page, navigationId, settled.data.loaded));
    return true;
  }
  const shown = pageShownSchema.safeParse(message);
  const page = shown.success ? pageOf(sender, shown.data.timeOrigin) : null;
  if (page) loads.markShownWithoutLoad(page.tabId, page.timeOrigin);
  return undefined;
});

async function startLoad(tabId: number, { url, navigationId }: TabLoad): Promise<void> {
  if (await detailedLoads.start(tabId, url)) loads.updateLoad(tabId, navigationId, { isDetailed: true });
}

/** Stores the load that a page reports. @returns the load's navigation; null when the report is of none */
async function storeReported(page: ReportingPage, settled: PageSettled): Promise<string | null> {
  const navigationId = await findSettledNavigation(loads, page, settled.timings.navigation?.name);
  if (navigationId === null) return null;
  noteLoadTime(page, settled);
  // The next page may be shown while the network is recognised.
  const left = page.leftMs === null ? undefined : await loads.getLoad(page.tabId);
  if (await recognise()) {
    await resting.wakeAll();
    await autopilot.handleNetworkChange();
  }
  await storeSettledLoad(loads, { page, navigationId, settled, periods: pins.periods, left });
  return navigationId;
}

async function handleReported(
  { tabId, leftMs }: ReportingPage,
  navigationId: string | null,
  loaded: boolean,
): Promise<void> {
  if (navigationId === null) return;
  const load = await loads.getLoad(tabId);
  if (load?.navigationId !== navigationId) return;
  // Also where it could not be recorded: listeners slow down what the page requests later.
  if (loaded) detailedLoads.end(tabId);
  if (load.phase === 'recorded' && load.storedId !== null) {
    const handled = handleLoad(leftMs === null ? tabId : null, load, load.storedId);
    handling.add(handled);
    await handled.finally(() => handling.delete(handled));
  }
  // No alarm is needed: while no page loads, nothing is added, and what is too old is not read.
  if (loaded) await doChores(CHORES);
}

/** What makes work for a later load or none, and no page waits for. */
const CHORES = [() => memory.removeExpired(), () => removeExpiredExperiences(), () => removeClosedTabs()];

async function removeClosedTabs(): Promise<void> {
  // A listener to closed tabs would have the browser start the worker each time.
  await loads.removeClosedTabs();
  await detailedLoads.removeClosedTabs();
}

/** @param tabId of the tab that shows the page; null where it goes to another one */
async function handleLoad(tabId: number | null, load: TabLoad, storedId: number): Promise<void> {
  await detailedPages.noteLoad(load.url, load.isDetailed);
  void announcer.update();
  // Before a decision, which depends on it. Its transfers would slow down the next page.
  if (tabId !== null) await examineNetwork(storedId);
  await autopilot.handleLoad(storedId);
  await noteOutcome(tabId, load, storedId, { autopilot, detailedPages, pins });
  if (!isAnyPinActive()) await restIfOrdinary(storedId, resting);
}

function handleNetworkChange(): void {
  void Promise.all([
    leaveNetwork(),
    forgetUnrecognisedCheck(),
    forgetUnrecognisedOffers(),
    forgetNetworkKey(),
    resting.wakeAll(),
    autopilot.handleNetworkChange(),
  ]).then(() => {
    void announcer.update();
    void autoPins.restart();
    void prepareForNetwork();
  });
}

function isAnyPinActive(): boolean {
  return pins.periods.some(({ endedMs }) => endedMs === null);
}

const recognise = () => recogniseNetwork(() => askForNetworkKey(pins.helper), pins.helper !== null);

/** Has what is known of the network that the browser is on take effect before its first page. */
async function prepareForNetwork(): Promise<void> {
  if (!navigator.onLine || !(await hasPinPermissions()) || !(await autopilot.actsOnNetworks())) return;
  await recognise();
  await autopilot.handleRecognisedNetwork();
}

/** A content script's messages carry the URL of its page; those of the extension's pages an extension URL. */
function isOwnPage(sender: chrome.runtime.MessageSender): boolean {
  return sender.url?.startsWith(chrome.runtime.getURL('')) === true;
}

/** Whether a frame may be recorded. A page that is observed from its start on begins its load so. */
async function answerCheck(
  sender: chrome.runtime.MessageSender,
  isDetailed: boolean,
  timeOrigin: number,
): Promise<boolean> {
  if (!(await mayRecord(sender))) return false;
  const page = isDetailed ? pageOf(sender, timeOrigin) : null;
  if (page) {
    detailedLoads.join(page.tabId);
    await beginDetailedLoad(loads, page);
  }
  return true;
}

/** Whether neither the frame nor the page that contains it is of an excluded site. */
async function mayRecord({ url = '', tab }: chrome.runtime.MessageSender): Promise<boolean> {
  const { excludedSites } = loads;
  await excludedSites.ready;
  return !excludedSites.has(url) && !excludedSites.has(tab?.url ?? '');
}
