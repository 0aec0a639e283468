import { firstLine } from './errors.ts';

/**
 * What must be undone whatever happens, last first. Once `run` was called, whatever is added later
 * (a browser that was still starting when Ctrl-C came) is undone at once.
 */
export class Cleanup {
  #steps: { what: string; undo: () => Promise<void> | void }[] = [];
  #report: ((line: string) => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  add(what: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ what, undo });
    if (this.#report) void this.run(this.#report);
  }

  /** Undoes all; a step that fails is reported and does not keep the others from running. */
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
