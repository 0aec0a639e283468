import { firstLine } from './errors.ts';

/**
 * What must be undone whatever happens, last first. `run` may be called more than once (Ctrl-C
 * while the end of the run cleans up already): each step is undone once.
 */
export class Cleanup {
  #steps: { what: string; undo: () => Promise<void> | void }[] = [];
  #running: Promise<void> | null = null;

  add(what: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ what, undo });
  }

  /** Undoes all; a step that fails is reported and does not keep the others from running. */
  run(report: (line: string) => void): Promise<void> {
    this.#running ??= this.#runAll(report).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #runAll(report: (line: string) => void): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        report(`could not clean up ${step.what}: ${firstLine(error)}`);
      }
    }
  }
}
