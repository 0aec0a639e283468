/** Entry point of the extension's worker: handles browser events, and messages of content scripts and of the extension's pages. */
import type { PinState } from '@hopwise/contract';
import type { LoadExport } from '../messages/load-messages.ts';
import type { PinRequest } from '../pins/pin-messages.ts';
import { hasPinPermissions } from '../pins/pin-permissions.ts';
import { PinManager } from '../pins/worker/pin-manager.ts';
import { pageSettledSchema, pageShownSchema } from '../recorder/page-timings.ts';
import { listenToRequests } from '../recorder/web-request.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { ensurePrediction, findLoad, storeSettledLoad } from './loads.ts';
import { measureStoredData } from './memory.ts';
import { forgetNetwork, forgetNetworks } from './network-memory.ts';
import { type PageAnswers, type PageRequest, pageRequestSchema } from './page-requests.ts';
import { TabLoads } from './tab-loads.ts';
import { Verifications } from './verifications.ts';

// First, because the browser's proxy settings may still point to a helper that no longer runs.
const pins = new PinManager();
const loads = new TabLoads();
const verifications = new Verifications();

listenToRequests(loads, () => void forgetNetwork());
self.addEventListener('offline', () => void forgetNetwork());
// Registering for this event also makes the browser start the worker when it starts itself.
chrome.runtime.onStartup.addListener(() => void pins.handleBrowserStart());
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
  const tabId = sender.tab?.id;
  if (tabId === undefined || sender.frameId !== 0) return undefined;
  const settled = pageSettledSchema.safeParse(message);
  if (settled.success) {
    void storeSettledLoad(loads, tabId, sender.documentId ?? '', settled.data.loaded, pins.proxiedOrigins);
  } else if (pageShownSchema.safeParse(message).success) loads.markShownWithoutLoad(tabId);
  return undefined;
});

/** A content script's messages carry the URL of its page; those of the extension's pages an extension URL. */
function isOwnPage(sender: chrome.runtime.MessageSender): boolean {
  return sender.url?.startsWith(chrome.runtime.getURL('')) === true;
}

async function respond(request: PageRequest): Promise<PageAnswers[PageRequest['type']]> {
  if (request.type === 'latest') {
    const answer = await findLoad(loads, request);
    if (request.brief || !answer.load) return { ...answer, load: null };
    return { ...answer, load: await ensurePrediction(answer.load) };
  }
  if (request.type === 'cancel-verification') {
    verifications.cancel();
    return { ok: true, state: 'none' };
  }
  if (request.type === 'forget-networks') {
    await forgetNetworks();
    return { ok: true };
  }
  if (request.type === 'stored-data') return { ok: true, stored: await measureStoredData() };
  if (request.type === 'pins' || request.type === 'pin' || request.type === 'unpin') {
    const now = await answerPinRequest(request);
    return { ok: true, allowed: await hasPinPermissions(), pins: now, vouched: pins.vouched };
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
      return { ok: true, export: asExport(await ensurePrediction(load)) };
  }
}

function answerPinRequest(request: PinRequest): Promise<PinState[]> {
  switch (request.type) {
    case 'pins':
      return request.fresh ? pins.refreshPins() : pins.listPins();
    case 'pin':
      return pins.pinOrigin(request);
    case 'unpin':
      return pins.unpinOrigin(request.origin);
  }
}

function asExport({ id: _id, requestedUrl: _requestedUrl, ...load }: StoredLoad): LoadExport {
  return { format: 'hopwise-load', version: 1, ...load };
}
