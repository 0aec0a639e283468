import { poolClusters } from '@hopwise/pageload-emulator';
import { beginsNetwork } from '../evidence/comparable-loads.ts';
import { listSuspectingSites, slowsH3 } from '../evidence/known-udp.ts';
import type { Reference } from '../evidence/pin-outcomes.ts';
import type { KnownLoad } from '../load/load-summary.ts';
import { getLoad, getSummaries } from '../storage/loads.ts';
import { listWitnesses, loadNetworkMemory } from '../storage/network.ts';
import { nameNetwork, readNetworkKey, UNRECOGNISED } from '../storage/network-key.ts';
import type { AutopilotAnswer } from './autopilot-messages.ts';
import {
  applyNetworkRule,
  type Predict,
  saveChoice,
  startOnKnownNetwork,
  switchNetwork,
  undoRuns,
} from './choosing/network-run.ts';
import { startBestRun } from './choosing/start-best-run.ts';
import { listTimesBefore } from './choosing/times-before.ts';
import { forgetExperience, listExperiences } from './learning/explorer-store.ts';
import { forgetAllLearned, forgetLearned, forgetPagesEverywhere } from './learning/forget-learned.ts';
import { type Learned, listLearned } from './learning/learned.ts';
import { type AutopilotRun, isOfNetwork, isRunning } from './runs/autopilot-run.ts';
import { findEndBySettings } from './runs/end-by-settings.ts';
import { findReference } from './runs/measure-load.ts';
import { measureRuns } from './runs/measure-runs.ts';
import { recheckUdp } from './runs/recheck-udp.ts';
import { RunKeeper } from './runs/run-keeper.ts';
import type { Pinner } from './runs/runs.ts';
import {
  type AutopilotSettings,
  readAutopilotSettings,
  saveAutopilotSettings,
} from './settings/autopilot-settings.ts';

/** Creates pins automatically if the user allows it, and removes them as soon as they do not help. */
export class Autopilot {
  readonly #keeper: RunKeeper;
  readonly #predict: Predict;

  constructor(pins: Pinner, predict: Predict) {
    this.#keeper = new RunKeeper(pins);
    this.#predict = predict;
  }

  /** Measures a load against what was done before it, then acts on it. To be called once for each stored load. */
  async handleLoad(loadId: number): Promise<void> {
    if (!(await this.actsOnNetworks())) return;
    await this.#keeper.change(async (runs) => {
      const settings = await readAutopilotSettings();
      const load = mayAct(settings) ? await getLoad(loadId) : undefined;
      if (load === undefined) return;
      await runs.endExpired();
      if (beginsNetwork(load)) {
        await forgetExperience(load.networkKey ?? null);
        const isOfThis = (run: AutopilotRun) => isOfNetwork(run) && nameNetwork(run) === nameNetwork(load);
        const others = runs.all.filter((run) => !isOfThis(run));
        await runs.end(others, 'network');
      }
      const all = await getSummaries();
      await measureRuns(runs, load, all, settings);
      await recheckUdp(runs, load, all, settings);
      if (settings.isOn) await startBestRun(runs, load, all, settings, this.#predict);
      else await applyNetworkRule(runs, load, listTimesBefore(load, all), settings, this.#predict);
    });
  }

  /** Acts on what a verification of a load has shown, which was handled before. */
  async handleVerification(loadId: number): Promise<void> {
    await this.#keeper.change(async (runs) => {
      const settings = await readAutopilotSettings();
      const load = settings.isOn ? await getLoad(loadId) : undefined;
      // The explorer has learned from the load already.
      const unlearned = { ...settings, explores: false };
      if (load) await startBestRun(runs, load, await getSummaries(), unlearned, this.#predict);
    });
  }

  /** Keeps HTTP/3 off on the network that the browser is on, for every page, or allows it. */
  switchNetwork(keepsOffH3: boolean): Promise<void> {
    return this.#keeper.change((runs) => switchNetwork(runs, keepsOffH3));
  }

  /** Whether it acts on networks at all, so that it is worth asking the helper which one the browser is on. */
  async actsOnNetworks(): Promise<boolean> {
    return mayAct(await readAutopilotSettings());
  }

  /** The helper has recognised the network: what is known of it holds from the first page on. */
  handleRecognisedNetwork(): Promise<void> {
    return this.#keeper.change(startOnKnownNetwork);
  }

  /** The browser went offline or is on another network, for which the predictions do not hold. */
  handleNetworkChange(): Promise<void> {
    return this.#keeper.change(async (runs) => {
      await forgetExperience(null);
      await runs.end(runs.all, 'network');
      await saveChoice(UNRECOGNISED, null);
    });
  }

  /**
   * Makes pins of the user: those of these origins are then no longer the autopilot's. Where they are refused, they remain its own.
   *
   * @returns what `pin` does. @throws what it throws
   */
  async handOver<T>(origins: readonly string[], pin: () => Promise<T>): Promise<T> {
    // Within one change: that the pins are others by now is noted after it.
    const { outcome } = await this.#keeper.change(async (runs) => {
      const outcome = pin();
      // Its failure is the user's to hear, and none of the change.
      const [{ status }] = await Promise.allSettled([outcome]);
      if (status === 'fulfilled') await runs.handOver(origins);
      return { outcome };
    });
    return outcome;
  }

  /**
   * Removes pins for the user, and undoes the runs that they are of.
   *
   * @returns what `unpin` does. @throws what it throws
   */
  async handleUnpin<T>(origins: readonly string[], unpin: () => Promise<T>): Promise<T> {
    // Within one change: no run begins in between, which would be left without its pins.
    const { outcome } = await this.#keeper.change(async (runs) => {
      const undone = runs.all.filter(({ pins }) => pins.some(({ origin }) => origins.includes(origin)));
      await undoRuns(runs, undone);
      const outcome = unpin();
      await Promise.allSettled([outcome]);
      return { outcome };
    });
    return outcome;
  }

  async getState(): Promise<Omit<AutopilotAnswer, 'ok'>> {
    await this.#keeper.settle();
    const settings = await readAutopilotSettings();
    const key = await readNetworkKey();
    const memory = await loadNetworkMemory();
    const cluster = poolClusters(listWitnesses(memory, null));
    const runs = await this.#keeper.read();
    return {
      settings,
      runs: runs.toReversed(),
      learned: listLearned(await listExperiences(), key),
      network: {
        slowsH3: slowsH3({ cluster }),
        isSuspected: listSuspectingSites(memory).length > 0,
        keepsOffH3: runs.some((run) => isRunning(run) && isOfNetwork(run)),
      },
    };
  }

  /** @returns what a load's page took before its pins were made; null where the autopilot did not make them */
  async readReferences(): Promise<(load: KnownLoad) => Reference | null> {
    const runs = await this.#keeper.read();
    return (load) => findReference(load, runs);
  }

  changeSettings(change: Partial<AutopilotSettings>): Promise<void> {
    return this.#keeper.change(async (runs) => {
      const settings = { ...(await readAutopilotSettings()), ...change };
      await saveAutopilotSettings(settings);
      for (const run of runs.running) {
        const cause = findEndBySettings(run, settings, change);
        if (cause !== null) await runs.end([run], cause);
      }
      if (settings.isOn && !settings.explores) await forgetAllLearned();
      // Also with the autopilot off: the user may keep HTTP/3 off on the network.
      await runs.leaveSites();
    });
  }

  /** Removes all pins that the autopilot made. */
  undoAll(): Promise<void> {
    return this.#keeper.change((runs) => undoRuns(runs, runs.all));
  }

  /** Forgets what loads on a network have shown. */
  eraseLearned(learned: Pick<Learned, 'key' | 'place'>): Promise<void> {
    return this.#keeper.change(() => forgetLearned(learned));
  }

  /** Undoes and forgets what was done on some pages. */
  forgetPages(isForgotten: (url: string) => boolean): Promise<void> {
    return this.#keeper.change(async (runs) => {
      const forgotten = runs.all.filter(({ pageUrl }) => isForgotten(pageUrl));
      await runs.end(forgotten, 'you');
      await forgetPagesEverywhere(isForgotten);
      await runs.forget(forgotten);
    });
  }
}

/** Whether the user has it do anything, on some network at least. */
const mayAct = ({ isOn, networkRules }: AutopilotSettings): boolean =>
  isOn || networkRules.some(({ keepsOffH3 }) => keepsOffH3);
