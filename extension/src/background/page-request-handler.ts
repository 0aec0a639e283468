import type { PinState } from '@hopwise/contract';
import type { StartRateAnnouncer } from '../announce/announcer.ts';
import type { Autopilot } from '../autopilot/autopilot.ts';
import type { AutopilotAnswer } from '../autopilot/autopilot-messages.ts';
import { hasPins } from '../evidence/comparable-loads.ts';
import { findPinOutcomes } from '../evidence/pin-outcomes.ts';
import { describeError } from '../language/describe-error.ts';
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import type { LatestAnswer, WhichLoad } from '../messages/load-messages.ts';
import type { Refusal } from '../messages/send-request.ts';
import type { PinLifetime, PinsAnswer } from '../pins/pin-messages.ts';
import { hasPinPermissions } from '../pins/pin-permissions.ts';
import type { PlannedPin } from '../pins/plan-pins.ts';
import { disallowLocalOrigin, listLocalOrigins } from '../pins/worker/local-origins.ts';
import type { PinManager } from '../pins/worker/pin-manager.ts';
import { recordShownPage } from '../recorder/register-content-script.ts';
import { getSummaries, predictionOf, type StoredLoad } from '../storage/loads.ts';
import { readSavedTime } from '../storage/saved-time.ts';
import { readSettings } from '../storage/settings.ts';
import { showBadge } from './badge.ts';
import type { DetailedLoads } from './detailed-loads.ts';
import type { DetailedPages } from './detailed-pages.ts';
import { ensurePrediction } from './ensure-prediction.ts';
import { eraseAll } from './erase.ts';
import { exportLoad } from './export-load.ts';
import { findGain } from './find-gain.ts';
import { findLoad } from './find-load.ts';
import type { Memory } from './memory.ts';
import type { Navigations } from './navigations.ts';
import { forgetChecks } from './network-check.ts';
import { forgetNetworks } from './network-memory.ts';
import { type PageAnswers, type PageRequest, pageRequestSchema } from './page-requests.ts';
import type { RestingHosts } from './resting-hosts.ts';
import type { TabLoads } from './tab-loads.ts';
import type { Verifications } from './verifications.ts';

/** What requests ask about or change. */
interface Parts {
  announcer: StartRateAnnouncer;
  autopilot: Autopilot;
  detailedLoads: DetailedLoads;
  detailedPages: DetailedPages;
  loads: TabLoads;
  memory: Memory;
  navigations: Navigations;
  pins: Pick<PinManager, 'caHosts' | 'launcher' | 'listPins' | 'pin' | 'refreshPins' | 'unpin'>;
  resting: Pick<RestingHosts, 'watch' | 'wakeAll'>;
  verifications: Verifications;
  /** Waits until what recorded loads lead to is done. */
  waitUntilHandled: () => Promise<unknown>;
}

/** A handler for each type of request. What it throws is the refusal's message. */
type Handlers = {
  [T in PageRequest['type']]: (request: Extract<PageRequest, { type: T }>) => Promise<PageAnswers[T]>;
};

/** Answers the requests of the extension's own pages. */
export class PageRequestHandler {
  readonly #parts: Parts;
  readonly #handlers: Handlers;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#handlers = this.#createHandlers(parts);
  }

  /** @returns a refusal where the message is no valid request, or cannot be answered */
  async handle(message: unknown): Promise<PageAnswers[PageRequest['type']]> {
    const request = pageRequestSchema.safeParse(message);
    if (!request.success) {
      const issue = request.error.issues[0];
      return refuse(`invalid request: ${issue?.path.join('.') || 'type'}: ${issue?.message}`);
    }
    try {
      return await this.#answer(request.data);
    } catch (error) {
      return refuse(await describeError(error));
    }
  }

  #answer<T extends PageRequest['type']>(
    request: Extract<PageRequest, { type: T }>,
  ): Promise<PageAnswers[T]> {
    return this.#handlers[request.type as T](request);
  }

  #createHandlers({
    announcer,
    autopilot,
    detailedLoads,
    detailedPages,
    loads,
    memory,
    navigations,
    pins,
    resting,
    verifications,
    waitUntilHandled,
  }: Parts): Handlers {
    return {
      latest: (request) => this.#findLatestLoad(request),
      verify: async (request) => ({
        ok: true,
        ...(await verifications.start(await this.#requireLoad(request), request)),
      }),
      verification: async (request) => ({
        ok: true,
        ...(await verifications.getState(await this.#requireLoad(request))),
      }),
      'cancel-verification': async () => {
        verifications.cancel();
        return { ok: true, state: 'none' };
      },
      export: async ({ withQueries = false, ...which }) => {
        const load = await ensurePrediction(await this.#requireLoad(which));
        return { ok: true, export: await exportLoad(load, withQueries) };
      },
      'forget-networks': async () => {
        await forgetNetworks();
        await forgetChecks();
        await announcer.update();
        return { ok: true };
      },
      pins: ({ fresh }) => this.#answerPins(fresh ? pins.refreshPins() : pins.listPins()),
      pin: ({ pins: wanted, ...lifetime }) => this.#answerPins(this.#pinForUser(wanted, lifetime)),
      unpin: ({ origins }) => this.#answerPins(this.#unpinForUser(origins)),
      'disallow-local': ({ origin }) => this.#answerPins(this.#disallowLocal(origin)),
      'pin-outcomes': async () => {
        const active = (await pins.listPins()).filter(({ state }) => state === 'active');
        const referenceOf = await autopilot.readReferences();
        return { ok: true, outcomes: findPinOutcomes(active, await getSummaries(), referenceOf) };
      },
      'stored-data': async () => ({ ok: true, stored: await memory.measure() }),
      'saved-time': async () => ({ ok: true, saved: await readSavedTime() }),
      'erase-all': async () => ({ ok: true, erased: await eraseAll(this.#parts) }),
      settings: async () => ({ ok: true, settings: await readSettings() }),
      'change-settings': async ({ change }) => {
        const changed = await memory.changeSettings(change);
        await announcer.forgetSites((site) => loads.excludedSites.has(site));
        await announcer.update();
        await detailedPages.update();
        detailedLoads.update();
        await navigations.update();
        await detailedPages.forget((url) => loads.excludedSites.has(url));
        await autopilot.forgetPages((url) => loads.excludedSites.has(url));
        await resting.wakeAll();
        return { ok: true, ...changed };
      },
      autopilot: async () => {
        // Who sees that a load is recorded is also to see what the autopilot does after it.
        await waitUntilHandled();
        return this.#answerAutopilot();
      },
      'change-autopilot': async ({ change }) => {
        await resting.wakeAll();
        return this.#answerAutopilot(autopilot.changeSettings(change));
      },
      'undo-autopilot': () => this.#answerAutopilot(autopilot.undoAll()),
      'switch-network': ({ keepsOffH3 }) => this.#answerAutopilot(autopilot.switchNetwork(keepsOffH3)),
      'erase-learned': (request) => this.#answerAutopilot(autopilot.eraseLearned(request)),
    };
  }

  async #findLatestLoad(request: Extract<PageRequest, { type: 'latest' }>): Promise<LatestAnswer> {
    const { autopilot, detailedLoads, detailedPages, loads, pins, resting } = this.#parts;
    if (request.tabId !== undefined) {
      detailedLoads.watch(request.tabId);
      await resting.watch(request.tabId);
    }
    const answer = await findLoad(loads, request);
    if (request.tabId !== undefined && answer.phase === 'none') await recordShownPage(request.tabId);
    const stored = answer.load;
    // Who looks at it wants to know more.
    if (
      stored?.isDetailed === false &&
      request.tabId !== undefined &&
      !detailedPages.has(stored.requestedUrl)
    )
      await detailedPages.want(stored.requestedUrl);
    if (request.brief || !stored) return { ...answer, load: null };
    const pinGain = await findGain(stored, await getSummaries(), autopilot);
    const load = await ensurePrediction(stored);
    // Before this prediction the icon showed the gain of an earlier load.
    if (request.tabId !== undefined && !hasPins(load))
      await showBadge(
        request.tabId,
        predictionOf(load)?.decision ?? null,
        load.recording.pltMs,
        await pins.listPins(),
      );
    return { ...answer, load, pinGain };
  }

  /** @throws ShownError when there is no such load */
  async #requireLoad(which: WhichLoad): Promise<StoredLoad> {
    const { load, phase } = await findLoad(this.#parts.loads, which);
    if (load) return load;
    throw new ShownError(() => t(phase === 'loading' ? 'loadUnderWay' : 'loadNone'));
  }

  async #answerAutopilot(change: Promise<void> = Promise.resolve()): Promise<AutopilotAnswer> {
    await change;
    return { ok: true, ...(await this.#parts.autopilot.getState()) };
  }

  async #answerPins(change: Promise<PinState[]>): Promise<PinsAnswer> {
    const all = await change;
    const { caHosts, launcher } = this.#parts.pins;
    const [allowed, localOrigins] = await Promise.all([hasPinPermissions(), listLocalOrigins(all)]);
    return { ok: true, allowed, pins: all, caHosts, launcher, localOrigins };
  }

  #pinForUser(wanted: readonly PlannedPin[], lifetime: PinLifetime): Promise<PinState[]> {
    const { autopilot, pins } = this.#parts;
    const origins = wanted.map(({ origin }) => origin);
    return autopilot.handOver(origins, () => pins.pin(wanted, lifetime));
  }

  #unpinForUser(origins: readonly string[]): Promise<PinState[]> {
    const { autopilot, pins } = this.#parts;
    return autopilot.handleUnpin(origins, () => pins.unpin(origins));
  }

  async #disallowLocal(origin: string): Promise<PinState[]> {
    await disallowLocalOrigin(origin);
    const all = await this.#parts.pins.listPins();
    const isInUse = all.some((pin) => pin.origin === origin && pin.allowLocal);
    return isInUse ? this.#unpinForUser([origin]) : all;
  }
}

const refuse = (error: string): Refusal => ({ ok: false, error });
