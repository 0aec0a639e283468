import type { Acknowledged, CongestionAlgorithm } from './congestion-control.ts';

/** Cardwell et al., "BBR: Congestion-Based Congestion Control" (ACM Queue 2016): 2 / ln 2; Linux rounds up. */
const STARTUP_GAIN = 2.89;
const DRAIN_GAIN = 1 / 2.885;
const WINDOW_GAIN = 2;
/** Gains of the eight phases of bandwidth probing, one round trip each. */
const CYCLE = [1.25, 0.75, 1, 1, 1, 1, 1, 1];
/** The pipe is full after this many round trips in which the bandwidth grew less than by `FULL_PIPE_GROWTH`. */
const FULL_PIPE_ROUNDS = 3;
const FULL_PIPE_GROWTH = 1.25;
/** The bandwidth estimate is the maximum over this many round trips. */
const BANDWIDTH_ROUNDS = 10;
/** The minimum round trip expires after this; it is then measured anew with a window of 4 for 200 ms. */
const MIN_RTT_AGE_MS = 10_000;
const PROBE_RTT_MS = 200;
const MIN_WINDOW = 4;
/** Linux paces 1% below the estimate, to avoid a standing queue. */
const PACING_MARGIN = 0.99;
/** Linux adds to the window three bursts of what the pace sends in a millisecond, at least 2 packets (bbr_quantization_budget). */
const EXTRA_BURSTS = 3;

type Phase = 'startup' | 'drain' | 'probe-bandwidth' | 'probe-rtt';

/**
 * BBR version 1 as in Linux (tcp_bbr.c). Its model of the path is the maximum delivery rate of ten round trips and the minimum
 * round trip of ten seconds; the pace follows the rate, the window is twice the product of both. A loss limits the window to
 * what is delivered for one round trip and has no other effect.
 */
export class Bbr implements CongestionAlgorithm {
  window = 0;
  readonly rateSamples = true;
  readonly #initialWindow: number;
  #phase: Phase = 'startup';
  #pacingGain = STARTUP_GAIN;
  #rate: number | null = null;
  /** Maximum rates by round, descending. */
  #rates: { round: number; rate: number }[] = [];
  #round = 0;
  #nextRoundDelivered = 0;
  #fullRate = 0;
  #roundsWithoutGrowth = 0;
  #pipeIsFull = false;
  #cycle = 0;
  #cycleAtMs = 0;
  #minRttMs = Number.POSITIVE_INFINITY;
  #minRttAtMs = 0;
  #probeRttUntilMs = -1;
  /** The window to restore after a recovery or a round-trip probe. */
  #priorWindow = 0;
  #recovering = false;
  #conserving = false;

  constructor(initialWindow: number) {
    this.window = initialWindow;
    this.#initialWindow = initialWindow;
  }

  get slowStart(): boolean {
    return this.#phase === 'startup';
  }

  get paceRate(): number | null {
    return this.#rate;
  }

  onOpen(rttMs: number): void {
    if (rttMs > 0) this.#rate = (STARTUP_GAIN * this.window) / rttMs;
  }

  onAck(ack: Acknowledged): void {
    let roundStarts = false;
    if (ack.deliveredWhenSent >= this.#nextRoundDelivered) {
      this.#nextRoundDelivered = ack.delivered;
      this.#round++;
      roundStarts = true;
      this.#conserving = false;
    }
    this.#sampleRate(ack);
    this.#probeBandwidth(ack);
    if (roundStarts) this.#checkFullPipe(ack.appLimited);
    this.#drain(ack);
    this.#probeRtt(ack);
    this.#setRate();
    this.#setWindow(ack);
  }

  onLoss(_nowMs: number, inFlight: number): void {
    this.#saveWindow();
    this.#recovering = true;
    this.#conserving = true;
    this.#nextRoundDelivered = Number.NEGATIVE_INFINITY;
    this.window = inFlight + 1;
  }

  onRecovered(): void {
    if (!this.#recovering) return;
    this.#recovering = false;
    this.#conserving = false;
    this.window = Math.max(this.window, this.#priorWindow);
  }

  onTimeout(_nowMs: number, again: boolean): void {
    if (!again) this.#saveWindow();
    this.#recovering = true;
    this.#conserving = false;
    this.#fullRate = 0;
    this.window = 1;
  }

  /** No effect: BBR's startup ends by the delivery rate, not by a delay. */
  leaveSlowStart(): void {}

  /** The pace continues after idleness, so the window needs no restart. */
  onIdle(): void {
    this.window = Math.max(this.window, this.#initialWindow);
  }

  #saveWindow(): void {
    const kept = this.#recovering || this.#phase === 'probe-rtt';
    this.#priorWindow = kept ? Math.max(this.#priorWindow, this.window) : this.window;
  }

  #bandwidth(): number {
    return this.#rates.length === 0 ? 0 : this.#rates[0]!.rate;
  }

  #sampleRate({ rate, appLimited }: Acknowledged): void {
    const rates = this.#rates;
    while (rates.length > 0 && rates[0]!.round <= this.#round - BANDWIDTH_ROUNDS) rates.shift();
    // A sender that lacked data measures itself, not the path.
    if (appLimited && rate < this.#bandwidth()) return;
    while (rates.length > 0 && rates.at(-1)!.rate <= rate) rates.pop();
    rates.push({ round: this.#round, rate });
  }

  #probeBandwidth({ atMs: nowMs, inFlight, lost }: Acknowledged): void {
    if (this.#phase !== 'probe-bandwidth') return;
    const whole = nowMs - this.#cycleAtMs > this.#minRttMs;
    const gain = CYCLE[this.#cycle]!;
    const next =
      gain > 1
        ? whole && (lost > 0 || inFlight >= this.#inFlightAt(gain))
        : gain < 1
          ? whole || inFlight <= this.#inFlightAt(1)
          : whole;
    if (next) this.#enterCycle((this.#cycle + 1) % CYCLE.length, nowMs);
  }

  #enterCycle(cycle: number, nowMs: number): void {
    this.#cycle = cycle;
    this.#cycleAtMs = nowMs;
    this.#pacingGain = CYCLE[cycle]!;
  }

  #checkFullPipe(appLimited: boolean): void {
    if (this.#pipeIsFull || appLimited) return;
    if (this.#bandwidth() >= this.#fullRate * FULL_PIPE_GROWTH) {
      this.#fullRate = this.#bandwidth();
      this.#roundsWithoutGrowth = 0;
    } else if (++this.#roundsWithoutGrowth >= FULL_PIPE_ROUNDS) {
      this.#pipeIsFull = true;
    }
  }

  #drain({ atMs: nowMs, inFlight }: Acknowledged): void {
    if (this.#phase === 'startup' && this.#pipeIsFull) {
      this.#phase = 'drain';
      this.#pacingGain = DRAIN_GAIN;
    }
    // Linux begins at a random phase, except the draining one; here it is always a middle one.
    if (this.#phase === 'drain' && inFlight <= this.#inFlightAt(1)) this.#enterProbeBandwidth(nowMs);
  }

  #enterProbeBandwidth(nowMs: number): void {
    this.#phase = 'probe-bandwidth';
    this.#enterCycle(4, nowMs);
  }

  #probeRtt({ atMs: nowMs, rttMs: latestRttMs, inFlight }: Acknowledged): void {
    const expired = nowMs > this.#minRttAtMs + MIN_RTT_AGE_MS;
    if (latestRttMs <= this.#minRttMs || expired) {
      this.#minRttMs = latestRttMs;
      this.#minRttAtMs = nowMs;
    }
    if (expired && this.#phase !== 'probe-rtt') {
      this.#saveWindow();
      this.#phase = 'probe-rtt';
      this.#pacingGain = 1;
      this.#probeRttUntilMs = -1;
    }
    if (this.#phase !== 'probe-rtt') return;
    if (this.#probeRttUntilMs < 0) {
      if (inFlight <= MIN_WINDOW) this.#probeRttUntilMs = nowMs + Math.max(PROBE_RTT_MS, latestRttMs);
    } else if (nowMs >= this.#probeRttUntilMs) {
      this.#minRttAtMs = nowMs;
      this.window = Math.max(this.window, this.#priorWindow);
      if (this.#pipeIsFull) {
        this.#enterProbeBandwidth(nowMs);
      } else {
        this.#phase = 'startup';
        this.#pacingGain = STARTUP_GAIN;
      }
    }
  }

  #setRate(): void {
    const rate = this.#bandwidth() * this.#pacingGain * PACING_MARGIN;
    if (rate > 0 && (this.#pipeIsFull || this.#rate === null || rate > this.#rate)) this.#rate = rate;
  }

  #setWindow({ packets, inFlight, lost, delivered }: Acknowledged): void {
    if (this.#recovering && lost > 0) this.window = Math.max(1, this.window - lost);
    if (this.#conserving) {
      this.window = Math.max(this.window, inFlight + packets);
    } else {
      const gain = this.slowStart || this.#phase === 'drain' ? STARTUP_GAIN : WINDOW_GAIN;
      const target = this.#inFlightAt(gain);
      if (this.#pipeIsFull) this.window = Math.min(this.window + packets, target);
      else if (this.window < target || delivered < this.#initialWindow) this.window += packets;
    }
    this.window = Math.max(MIN_WINDOW, this.window);
    if (this.#phase === 'probe-rtt') this.window = Math.min(this.window, MIN_WINDOW);
  }

  /** Packets in flight at `gain` × bandwidth × minimum round trip. */
  #inFlightAt(gain: number): number {
    if (this.#minRttMs === Number.POSITIVE_INFINITY) return this.#initialWindow;
    const atOnce = Math.max(2, Math.floor(this.#rate ?? 0));
    const probing = this.#phase === 'probe-bandwidth' && this.#cycle === 0 ? 2 : 0;
    return Math.ceil(gain * this.#bandwidth() * this.#minRttMs) + EXTRA_BURSTS * atOnce + probing;
  }
}
