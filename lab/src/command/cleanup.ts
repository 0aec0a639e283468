import { firstLine } from './errors.ts';

/**
 * Clean-up steps that run however a command ends, last one first. A step added after `run` (such as for a browser that was
 * still starting on Ctrl-C) runs at once.
 */
export class Cleanup {
  #steps: { what: string; undo: () => Promise<void> | void }[] = [];
  #report: ((line: string) => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  add(what: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ what, undo });
    if (this.#report) void this.run(this.#report);
  }

  /** Runs all steps; a failing step is reported and does not stop the others. */
  run(report: (line: string) => void): Promise<void> {
    this.#report = report;
    this.#running = this.#running.then(() => this.#undoAll(report));
    return this.#running;
  }

  async #undoAll(report: (line: string) => void): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        report(`could not clean up ${step.what}: ${firstLine(error)}`);
      }
    }
  }
}
