import { SerialQueue } from '@hopwise/contract';
import type { AutopilotRun } from './autopilot-run.ts';
import { readRuns } from './run-log.ts';
import { type Pinner, Runs } from './runs.ts';

const SESSION_KEY = 'autopilot-session';

/** Keeps the log of runs in step with their pins: changes it by one thing after another, each of which first ends the runs whose pins have gone. */
export class RunKeeper {
  readonly #pins: Pinner;
  readonly #changes = new SerialQueue();
  /** Whether the runs of the browser's last session have been ended. */
  #isOfSession = false;

  constructor(pins: Pinner) {
    this.#pins = pins;
    // Nobody waits for it: `change` reports its failure.
    pins.onChange(() => void this.settle().catch(() => undefined));
  }

  /** Changes the runs after the changes before. What they have become is saved, also where the change fails. @returns what it does */
  async change<T>(change: (runs: Runs) => Promise<T>): Promise<T> {
    const done = this.#changes.run(async () => {
      const runs = new Runs(this.#pins, await readRuns());
      try {
        await this.#endFormerSession(runs);
        await runs.endWithoutPins();
        return await change(runs);
      } finally {
        if (runs.isChanged) await runs.save();
      }
    });
    done.catch((error) => console.error('hopwise: autopilot:', error));
    return done;
  }

  /** Ends the runs of the last session and those whose pins have gone, once nothing else is under way. */
  settle(): Promise<void> {
    return this.change(async () => undefined);
  }

  /** All runs, oldest first, once no change is under way. */
  async read(): Promise<AutopilotRun[]> {
    await this.#changes.whenIdle();
    return readRuns();
  }

  /** Pins end with the browser; after its next start the first load of a page decides anew. */
  async #endFormerSession(runs: Runs): Promise<void> {
    if (this.#isOfSession) return;
    this.#isOfSession = true;
    const { session } = chrome.storage;
    if ((await session.get(SESSION_KEY))[SESSION_KEY] === true) return;
    await session.set({ [SESSION_KEY]: true });
    await runs.end(runs.all, 'closed');
  }
}
