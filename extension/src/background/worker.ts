/** The extension's worker: hears the browser's events and the extension's pages. */
import type { PinState } from '@hopwise/contract';
import {
  type Answers,
  type LoadExport,
  type PageRequest,
  pageRequestSchema,
} from '../messages/page-messages.ts';
import { arePinsAllowed } from '../pins/pin-permissions.ts';
import { Pins } from '../pins/worker/pin-manager.ts';
import { pageSettledSchema, pageShownSchema } from '../recorder/page-timings.ts';
import { listenToRequests } from '../recorder/web-request.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { latest, storeSettledLoad, withPrediction } from './loads.ts';
import { forgetNetworks, leaveNetwork } from './network-memory.ts';
import { TabLoads } from './tab-loads.ts';
import { Verifications } from './verifications.ts';

// First of all: the browser may still be steered to a helper that is gone.
const pins = new Pins();
const loads = new TabLoads();
const verifications = new Verifications();

listenToRequests(loads, () => void leaveNetwork());
self.addEventListener('offline', () => void leaveNetwork());
// This also has the browser start the worker with itself.
chrome.runtime.onStartup.addListener(() => void pins.browserStarted());
chrome.permissions.onRemoved.addListener(() => void pins.permissionsRemoved());
chrome.tabs.onRemoved.addListener((tabId) => loads.forget(tabId));

chrome.runtime.onMessage.addListener((message: unknown, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return undefined;
  if (isOwnPage(sender)) {
    const request = pageRequestSchema.safeParse(message);
    if (!request.success) {
      const issue = request.error.issues[0];
      answer({ ok: false, error: `not a request: ${issue?.path.join('.') || 'type'}: ${issue?.message}` });
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
    void storeSettledLoad(loads, tabId, sender.documentId ?? '', settled.data.loaded, pins.carriers);
  } else if (pageShownSchema.safeParse(message).success) loads.shownWithoutLoad(tabId);
  return undefined;
});

/** Content scripts send with the URL of their page, the extension's pages with their own. */
function isOwnPage(sender: chrome.runtime.MessageSender): boolean {
  return sender.url?.startsWith(chrome.runtime.getURL('')) === true;
}

async function respond(request: PageRequest): Promise<Answers[PageRequest['type']]> {
  if (request.type === 'latest') {
    const answer = await latest(loads, request);
    if (request.brief || !answer.load) return { ...answer, load: null };
    return { ...answer, load: await withPrediction(answer.load) };
  }
  if (request.type === 'cancel-verification') {
    verifications.cancel();
    return { ok: true, state: 'none' };
  }
  if (request.type === 'forget-networks') {
    await forgetNetworks();
    return { ok: true };
  }
  if (request.type === 'pins' || request.type === 'pin' || request.type === 'unpin') {
    const now = await changePins(request);
    return { ok: true, allowed: await arePinsAllowed(), pins: now, vouched: pins.vouched };
  }
  const { load, phase } = await latest(loads, request);
  if (!load) {
    return { ok: false, error: phase === 'loading' ? 'The page is still loading.' : 'Nothing is recorded.' };
  }
  switch (request.type) {
    case 'verify':
      return { ok: true, ...(await verifications.start(load, request)) };
    case 'verification':
      return { ok: true, ...(await verifications.of(load)) };
    case 'export':
      return { ok: true, export: asExport(await withPrediction(load)) };
  }
}

function changePins(request: Extract<PageRequest, { type: 'pins' | 'pin' | 'unpin' }>): Promise<PinState[]> {
  switch (request.type) {
    case 'pins':
      return request.fresh ? pins.ask() : pins.list();
    case 'pin':
      return pins.pin(request);
    case 'unpin':
      return pins.unpin(request.origin);
  }
}

function asExport({ id: _id, requestedUrl: _requestedUrl, ...load }: StoredLoad): LoadExport {
  return { format: 'hopwise-load', version: 1, ...load };
}
