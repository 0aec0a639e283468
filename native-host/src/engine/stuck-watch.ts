/**
 * Detects a process that no longer responds. Host and engine watch each other: a hung one is ended, so that the kernel resets its
 * connections and browsers load pages without it.
 */
import type { ProcessActivity } from './process-activity.ts';

/**
 * Unanswered questions of an able process before it counts as stuck. They are counted, not timed, as this process or the machine may
 * have slept.
 */
const MAX_UNANSWERED = 4;

/** Unanswered questions of a process that gets no processor time: a busy machine is no reason to end it soon. */
const MAX_UNANSWERED_STARVED = 30;

interface StuckWatchOptions {
  /** How long a process that is able to respond may not do so, milliseconds. */
  limitMs: number;
  isBusy: () => boolean;
  ask: () => void;
  /** What has kept the process from responding since the last call. */
  observe: () => ProcessActivity;
  /** Called once. */
  onStuck: () => void;
}

export class StuckWatch {
  readonly #options: StuckWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #isAsked = false;
  /** Consecutive ones. */
  #unanswered = 0;
  #unansweredAble = 0;

  constructor(options: StuckWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.limitMs / MAX_UNANSWERED).unref();
  }

  /** A question was answered, or the process has shown in another way that it responds. */
  noteAnswer(): void {
    this.#isAsked = false;
    this.#unanswered = 0;
    this.#unansweredAble = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const { isBusy, ask, onStuck } = this.#options;
    if (!isBusy()) {
      this.noteAnswer();
      return;
    }
    if (this.#isAsked) this.#countUnanswered();
    if (this.#unansweredAble >= MAX_UNANSWERED || this.#unanswered >= MAX_UNANSWERED_STARVED) {
      this.stop();
      onStuck();
      return;
    }
    this.#isAsked = true;
    ask();
  }

  #countUnanswered(): void {
    const activity = this.#options.observe();
    if (activity === 'debugged') return;
    this.#unanswered += 1;
    if (activity === 'able') this.#unansweredAble += 1;
  }
}
