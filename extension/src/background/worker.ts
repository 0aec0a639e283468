/** Entry point of the extension's worker: handles browser events, and messages of content scripts and of the extension's pages. */
import type { PinState } from '@hopwise/contract';
import { StartRateAnnouncer } from '../announce/announcer.ts';
import { Autopilot } from '../autopilot/autopilot.ts';
import type { AutopilotAnswer, AutopilotRequest } from '../autopilot/autopilot-messages.ts';
import { findPinGain, findPinOutcomes } from '../evidence/pin-outcomes.ts';
import type { Erased } from '../messages/memory-messages.ts';
import type { PinRequest } from '../pins/pin-messages.ts';
import { hasPinPermissions } from '../pins/pin-permissions.ts';
import {
  allowLocalOrigin,
  disallowLocalOrigin,
  isLocalOriginAllowed,
  listLocalOrigins,
} from '../pins/worker/local-origins.ts';
import { PinManager } from '../pins/worker/pin-manager.ts';
import { pageSettledSchema, pageShownSchema, recordingCheckSchema } from '../recorder/page-timings.ts';
import { registerContentScript } from '../recorder/register-content-script.ts';
import { listenToRequests } from '../recorder/web-request.ts';
import { getAllLoads } from '../storage/loads.ts';
import { readSettings } from '../storage/settings.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { openWelcome } from '../welcome/open-welcome.ts';
import { exportLoad } from './export-load.ts';
import { listenToHistoryDeletions } from './history-deletions.ts';
import { ensurePrediction, findLoad, storeSettledLoad } from './loads.ts';
import { Memory } from './memory.ts';
import { forgetNetworks, leaveNetwork } from './network-memory.ts';
import { type PageAnswers, type PageRequest, pageRequestSchema } from './page-requests.ts';
import { forgetNetworkKey, recogniseNetwork } from './recognise-network.ts';
import { TabLoads } from './tab-loads.ts';
import { Verifications } from './verifications.ts';

// First, because the browser's proxy settings may still point to a helper that no longer runs.
const pins = new PinManager();
const loads = new TabLoads();
const verifications = new Verifications();
const memory = new Memory(loads, verifications);
const autopilot = new Autopilot(pins, ensurePrediction);
const announcer = new StartRateAnnouncer();

void registerContentScript();
listenToRequests(loads, handleNetworkChange, (url, acceptCh) => {
  if (!loads.excludedSites.has(url)) void announcer.handleHintsAsked(url, acceptCh);
});
self.addEventListener('offline', handleNetworkChange);
listenToHistoryDeletions(
  () => void eraseAll(),
  (urls) => {
    void memory.forgetPages(urls);
    const pages = new Set(urls.map(maskQuery));
    void autopilot.forgetPages((url) => pages.has(maskQuery(url)));
  },
);
// The browser starts the worker with the first request after a pause, so this needs no alarm.
void memory.removeExpired();
// Registering for this event also makes the browser start the worker when it starts itself.
chrome.runtime.onStartup.addListener(() => void pins.handleBrowserStart());
chrome.runtime.onInstalled.addListener(({ reason }) => void openWelcome(reason));
chrome.permissions.onRemoved.addListener(() => void pins.handlePermissionRemoval());
chrome.tabs.onRemoved.addListener((tabId) => loads.removeTab(tabId));

chrome.runtime.onMessage.addListener((message: unknown, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return undefined;
  if (isOwnPage(sender)) {
    const request = pageRequestSchema.safeParse(message);
    if (!request.success) {
      const issue = request.error.issues[0];
      answer({ ok: false, error: `invalid request: ${issue?.path.join('.') || 'type'}: ${issue?.message}` });
      return undefined;
    }
    respond(request.data).then(answer, (error) =>
      answer({ ok: false, error: error instanceof Error ? error.message : String(error) }),
    );
    return true;
  }
  if (recordingCheckSchema.safeParse(message).success) {
    mayRecord(sender).then(answer, () => answer(false));
    return true;
  }
  const tabId = sender.tab?.id;
  if (tabId === undefined || sender.frameId !== 0) return undefined;
  const settled = pageSettledSchema.safeParse(message);
  if (settled.success) {
    void storeAndHandle(tabId, sender.documentId ?? '', settled.data.loaded);
  } else if (pageShownSchema.safeParse(message).success) loads.markShownWithoutLoad(tabId);
  return undefined;
});

async function storeAndHandle(tabId: number, documentId: string, loaded: boolean): Promise<void> {
  if (await recogniseNetwork()) await autopilot.handleNetworkChange();
  await storeSettledLoad(loads, tabId, documentId, loaded, pins.proxiedOrigins);
  const load = await loads.getLoad(tabId);
  if (load?.phase !== 'recorded' || load.storedId === null) return;
  void announcer.update();
  await autopilot.handleLoad(load.storedId);
}

function handleNetworkChange(): void {
  void Promise.all([leaveNetwork(), forgetNetworkKey()]).then(() => announcer.update());
  void autopilot.handleNetworkChange();
}

async function eraseAll(): Promise<Erased> {
  await autopilot.forgetPages(() => true);
  const erased = await memory.eraseAll();
  await announcer.forgetOrigins();
  return erased;
}

/** A content script's messages carry the URL of its page; those of the extension's pages an extension URL. */
function isOwnPage(sender: chrome.runtime.MessageSender): boolean {
  return sender.url?.startsWith(chrome.runtime.getURL('')) === true;
}

/** Whether neither the frame nor the page that contains it is of an excluded site. */
async function mayRecord({ url = '', tab }: chrome.runtime.MessageSender): Promise<boolean> {
  const { excludedSites } = loads;
  await excludedSites.ready;
  return !excludedSites.has(url) && !excludedSites.has(tab?.url ?? '');
}

async function respond(request: PageRequest): Promise<PageAnswers[PageRequest['type']]> {
  if (request.type === 'latest') {
    const answer = await findLoad(loads, request);
    if (request.brief || !answer.load) return { ...answer, load: null };
    const pinGain = findPinGain(answer.load, await getAllLoads());
    return { ...answer, load: await ensurePrediction(answer.load), pinGain };
  }
  if (request.type === 'cancel-verification') {
    verifications.cancel();
    return { ok: true, state: 'none' };
  }
  if (request.type === 'forget-networks') {
    await forgetNetworks();
    await announcer.update();
    return { ok: true };
  }
  switch (request.type) {
    case 'pins':
    case 'pin':
    case 'unpin':
    case 'disallow-local': {
      const now = await answerPinRequest(request);
      const allowed = await hasPinPermissions();
      const localOrigins = await listLocalOrigins(now);
      const { vouched, launcher } = pins;
      return { ok: true, allowed, pins: now, vouched, launcher, localOrigins };
    }
    case 'pin-outcomes': {
      const active = (await pins.listPins()).filter(({ state }) => state === 'active');
      return { ok: true, outcomes: findPinOutcomes(active, await getAllLoads()) };
    }
    case 'stored-data':
      return { ok: true, stored: await memory.measure() };
    case 'erase-all':
      return { ok: true, erased: await eraseAll() };
    case 'settings':
      return { ok: true, settings: await readSettings() };
    case 'change-settings': {
      const changed = await memory.changeSettings(request.change);
      await announcer.update();
      await autopilot.forgetPages((url) => loads.excludedSites.has(url));
      return { ok: true, ...changed };
    }
    case 'autopilot':
    case 'change-autopilot':
    case 'undo-autopilot':
    case 'erase-learnt':
      return answerAutopilotRequest(request);
  }
  const { load, phase } = await findLoad(loads, request);
  if (!load) {
    return {
      ok: false,
      error: phase === 'loading' ? 'The page is still loading.' : 'No load of this page is recorded.',
    };
  }
  switch (request.type) {
    case 'verify':
      return { ok: true, ...(await verifications.start(load, request)) };
    case 'verification':
      return { ok: true, ...(await verifications.getState(load)) };
    case 'export':
      return {
        ok: true,
        export: await exportLoad(await ensurePrediction(load), request.withQueries === true),
      };
  }
}

async function answerAutopilotRequest(request: AutopilotRequest): Promise<AutopilotAnswer> {
  if (request.type === 'change-autopilot') await autopilot.changeSettings(request.change);
  if (request.type === 'undo-autopilot') await autopilot.undoAll();
  if (request.type === 'erase-learnt') await autopilot.eraseLearnt(request);
  return { ok: true, ...(await autopilot.getState()) };
}

async function answerPinRequest(request: Exclude<PinRequest, { type: 'pin-outcomes' }>): Promise<PinState[]> {
  switch (request.type) {
    case 'pins':
      return request.fresh ? pins.refreshPins() : pins.listPins();
    case 'pin':
      await autopilot.handlePin(request.origin);
      if (request.allowLocal) await allowLocalOrigin(request.origin);
      return pins.pinOrigin({ ...request, allowLocal: await isLocalOriginAllowed(request.origin) });
    case 'unpin':
      await autopilot.handleUnpin(request.origin);
      return pins.unpinOrigin(request.origin);
    case 'disallow-local': {
      await disallowLocalOrigin(request.origin);
      const all = await pins.listPins();
      const isInUse = all.some(({ origin, allowLocal }) => origin === request.origin && allowLocal);
      if (!isInUse) return all;
      await autopilot.handleUnpin(request.origin);
      return pins.unpinOrigin(request.origin);
    }
  }
}
