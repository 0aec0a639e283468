/** The parts of the extension's worker that learn from loads and act on them, on emulated loads. */
import { MINUTE_MS } from '@hopwise/contract';
import type { Recording } from '@hopwise/pageload-emulator';
import { Autopilot } from '../../../../extension/src/autopilot/autopilot.ts';
import { isSlow } from '../../../../extension/src/background/deserves-detail.ts';
import { ensureDecision } from '../../../../extension/src/background/ensure-prediction.ts';
import { findDecision } from '../../../../extension/src/background/find-decision.ts';
import { recallNetwork } from '../../../../extension/src/background/network-memory.ts';
import { restIfOrdinary } from '../../../../extension/src/background/rest-if-ordinary.ts';
import { REST_MINUTES } from '../../../../extension/src/background/resting-hosts.ts';
import { hasPins } from '../../../../extension/src/evidence/comparable-loads.ts';
import { findPeriodsDuring } from '../../../../extension/src/evidence/pin-period.ts';
import { findPinnedProtocols } from '../../../../extension/src/evidence/pinned-protocols.ts';
import { addLoad, getLoad, getSummaries, removeLoads } from '../../../../extension/src/storage/loads.ts';
import { readNetworkKey, saveFoundNetwork } from '../../../../extension/src/storage/network-key.ts';
import { ownStorage } from '../../../../extension/src/storage/own-storage.ts';
import { FreshRuns } from '../../product/fresh-runs.ts';
import type { StoredRun } from '../../product/store.ts';
import type { EmulatedBrowser } from './emulated-browser.ts';

/** How a load is recorded, and what may follow it. */
interface LoadHandling {
  isDetailed: boolean;
  /** Whether it is learned even where it tells nothing new. */
  isAlwaysLearned: boolean;
  /** Has the next load of a page recorded in detail. */
  wantDetail: (url: string) => Promise<void>;
}

/** Nobody has allowed recordings in detail. */
const LIGHT: LoadHandling = {
  isDetailed: false,
  isAlwaysLearned: false,
  wantDetail: async () => undefined,
};

export class EmulatedExtension {
  readonly #browser: EmulatedBrowser;
  readonly #autopilot: Autopilot;
  readonly #runs = new FreshRuns();
  /** Hosts whose loads are not recorded until then, see `RestingHosts`. */
  readonly #resting = new Set<string>();
  #restUntilMs = 0;

  private constructor(browser: EmulatedBrowser) {
    this.#browser = browser;
    this.#autopilot = new Autopilot(browser, ensureDecision);
  }

  /** Begins without any load or item of an earlier one. The autopilot is on. @param explores whether it makes trials */
  static async install(browser: EmulatedBrowser, explores: boolean): Promise<EmulatedExtension> {
    await removeLoads(() => true);
    await ownStorage.remove(Object.keys(await ownStorage.get(null)));
    const extension = new EmulatedExtension(browser);
    await extension.#autopilot.changeSettings({ isOn: true, explores });
    return extension;
  }

  /** The browser is on another network from now on, which the helper recognises. @param key by which it does */
  async joinNetwork(key: string): Promise<void> {
    this.#resting.clear();
    await saveFoundNetwork({ key, askAgainAtMs: Number.MAX_SAFE_INTEGER, usedAtMs: Date.now() });
    await this.#autopilot.handleNetworkChange();
    await this.#autopilot.handleRecognisedNetwork();
  }

  /** Whether the loads of a page are not recorded now. */
  isResting(url: string): boolean {
    const isOver = Date.now() >= this.#restUntilMs || this.#browser.periods.length > 0;
    if (isOver) this.#resting.clear();
    return this.#resting.has(new URL(url).hostname);
  }

  /** Does what follows a load that is recorded, as the worker does. @returns the autopilot's runs, see `FreshRuns` */
  async handleLoad(recording: Recording, handling = LIGHT): Promise<StoredRun[]> {
    const { isDetailed, isAlwaysLearned, wantDetail } = handling;
    const duringLoad = findPeriodsDuring(recording, this.#browser.periods);
    const network = 'internet';
    const networkKey = await readNetworkKey();
    const pinned = findPinnedProtocols(recording, duringLoad);
    const learned = {
      recording,
      network,
      networkKey,
      pinned,
      isDetailed: isDetailed || isAlwaysLearned,
    } as const;
    const id = await addLoad({
      requestedUrl: recording.url,
      recording,
      hidesQueries: false,
      network,
      networkKey,
      cluster: await recallNetwork(learned, true),
      pinned,
      wasVisible: true,
      isDetailed,
      prediction: null,
      problem: '',
      verification: null,
      verifiedPrediction: null,
    });
    await this.#autopilot.handleLoad(id);
    await this.#decide(id, wantDetail);
    if (!isAlwaysLearned && this.#browser.periods.length === 0)
      await restIfOrdinary(id, { rest: async (host) => this.#rest(host) });
    const { runs } = await this.#autopilot.getState();
    return this.#runs.select(runs, recording.url);
  }

  #rest(host: string): void {
    if (this.#resting.size === 0) this.#restUntilMs = Date.now() + REST_MINUTES * MINUTE_MS;
    this.#resting.add(host);
  }

  /** For the badge: what is decided then counts later. */
  async #decide(id: number, wantDetail: LoadHandling['wantDetail']): Promise<void> {
    const load = await getLoad(id);
    if (load === undefined || hasPins(load) || !isSlow(load)) return;
    await findDecision(load, await getSummaries(), { predict: ensureDecision, wantDetail });
  }
}
