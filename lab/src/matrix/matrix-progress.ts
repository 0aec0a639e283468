/** Progress of a matrix: one line on a terminal, elsewhere a line every ten seconds. */

import type { GroundTruthLoad, LoadProtocol } from '../ground-truth/ground-truth.ts';
import { duration } from '../output/words.ts';
import type { PlannedLoad } from './matrix.ts';

const LINE_EVERY_MS = 10_000;
const REDRAW_EVERY_MS = 1000;

export class MatrixProgress {
  readonly #stream: NodeJS.WriteStream;
  /** Expected time of a load, in any unit: only ratios count. */
  readonly #weigh: (load: PlannedLoad) => number;
  readonly #startedAt = performance.now();
  readonly #last = new Map<LoadProtocol, string>();
  #timer: NodeJS.Timeout | undefined;
  #total = 0;
  #done = 0;
  #weightLeft = 0;
  #weightDone = 0;
  #spentMs = 0;
  #dropped = 0;
  #cell = '';
  #current = '';
  #waiting = '';
  #live = false;

  constructor(weigh: (load: PlannedLoad) => number, stream: NodeJS.WriteStream = process.stderr) {
    this.#weigh = weigh;
    this.#stream = stream;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  begin(total: number, left: PlannedLoad[]): void {
    this.#total = total;
    this.#done = total - left.length;
    this.#weightLeft = left.reduce((sum, load) => sum + this.#weigh(load), 0);
    this.#timer = setInterval(() => this.#draw(), this.#stream.isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS);
  }

  started(load: PlannedLoad): void {
    const cell = `${load.page} on ${load.network}`;
    if (cell !== this.#cell) this.#last.clear();
    this.#cell = cell;
    this.#current = `seed ${load.seed} ${load.protocol}${load.view === 'warm' ? ' warm' : ''}`;
    this.#waiting = '';
  }

  dropped(): void {
    this.#dropped++;
  }

  /** Shown until the next load starts. */
  waiting(why: string): void {
    this.#waiting = why;
  }

  kept(load: GroundTruthLoad, tookMs: number): void {
    this.#pass(load, tookMs);
    const { outcome } = load;
    this.#last.set(load.protocol, outcome.ok ? duration(outcome.pltMs) : outcome.kind);
  }

  /** A load that was dropped from the plan. */
  skipped(load: PlannedLoad): void {
    this.#pass(load, 0);
  }

  /** A line that is not replaced. */
  say(line: string): void {
    this.#erase();
    this.#stream.write(`${this.#clock()}  ${line}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #pass(load: PlannedLoad, tookMs: number): void {
    const weight = this.#weigh(load);
    this.#done++;
    this.#weightLeft -= weight;
    if (tookMs === 0) return;
    this.#weightDone += weight;
    this.#spentMs += tookMs;
  }

  #draw(): void {
    const last = [...this.#last].map(([protocol, text]) => `${protocol} ${text}`).join(', ');
    const line = [
      `${this.#done} of ${this.#total} loads`,
      this.#timeLeft(),
      this.#cell && `${this.#cell}, ${this.#waiting || this.#current}`,
      last,
      this.#dropped > 0 ? `${this.#dropped} dropped` : '',
    ]
      .filter((part) => part !== '')
      .join(' · ');
    if (!this.#stream.isTTY) {
      this.#stream.write(`${this.#clock()}  ${line}\n`);
      return;
    }
    this.#live = true;
    const width = Math.max(20, (this.#stream.columns || 80) - 12);
    this.#stream.write(`\r\x1b[2K${this.#clock()}  ${line.slice(0, width)}`);
  }

  #timeLeft(): string {
    if (this.#weightDone === 0) return '';
    const seconds = ((this.#spentMs / this.#weightDone) * Math.max(0, this.#weightLeft)) / 1000;
    return seconds < 90 ? `${Math.round(seconds)} s left` : `${Math.round(seconds / 60)} min left`;
  }

  #erase(): void {
    if (this.#live) this.#stream.write('\r\x1b[2K');
    this.#live = false;
  }

  #clock(): string {
    const seconds = Math.floor(this.elapsedMs / 1000);
    const two = (value: number) => String(value).padStart(2, '0');
    return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  }
}
