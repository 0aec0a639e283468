import { firstLine, SerialQueue } from '@hopwise/contract';

/**
 * Clean-up steps that run however a command ends, last one first. A step added after `run` (such as for a browser that was
 * still starting on Ctrl-C) runs at once.
 */
export class Cleanup {
  #steps: { what: string; undo: () => Promise<void> | void }[] = [];
  #report: ((line: string) => void) | null = null;
  readonly #runs = new SerialQueue();

  add(what: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ what, undo });
    if (this.#report) void this.run(this.#report);
  }

  /** Runs all steps; a failing step is reported and does not stop the others. */
  run(report: (line: string) => void): Promise<void> {
    this.#report = report;
    return this.#runs.run(() => this.#undoAll(report));
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
