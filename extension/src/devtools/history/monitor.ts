/** Verifies a page again and again, at the period and for the time that a person chooses, as VTL monitors a path on request (NETWORKING 2021, section IV). */
import {
  countOf,
  messageOf,
  PROTOCOLS,
  type Protocol,
  type Repetition,
  repeat,
  type Verification,
} from '@hopwise/contract';

/** A protocol is called fastest where it leads by this share. */
const CLEAR_LEAD = 0.05;

/** One verification of a page that is monitored. */
export interface MonitoredTimes {
  /** When it began, milliseconds since 1970. */
  atMs: number;
  /** Median load time by protocol; those that could not be used are absent. */
  medianMs: Partial<Record<Protocol, number>>;
  /** Why there are no times; '' otherwise. */
  problem: string;
}

/** One page's monitoring. */
export class Monitor {
  readonly #verify: (signal: AbortSignal) => Promise<Verification>;
  readonly #onChange: () => void;
  #times: MonitoredTimes[] = [];
  #planned = 0;
  #nextAtMs: number | null = null;
  #running: AbortController | null = null;

  /**
   * @param verify one verification
   * @param onChange called whenever what the getters return has changed
   */
  constructor(verify: (signal: AbortSignal) => Promise<Verification>, onChange: () => void) {
    this.#verify = verify;
    this.#onChange = onChange;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** In order of time. */
  get times(): readonly MonitoredTimes[] {
    return this.#times;
  }

  /** How many verifications there will be in all. */
  get planned(): number {
    return this.#planned;
  }

  /** When the next verification begins, milliseconds since 1970; null while one runs and when there is none. */
  get nextAtMs(): number | null {
    return this.#nextAtMs;
  }

  /** Begins anew; has no effect while it runs. @returns when the last verification has ended or it was stopped */
  async start(repetition: Repetition): Promise<void> {
    if (this.#running !== null) return;
    const running = new AbortController();
    this.#running = running;
    this.#times = [];
    this.#planned = countOf(repetition);
    this.#onChange();
    const run = async (): Promise<boolean> => {
      const times = await this.#verifyOnce(running.signal);
      if (running.signal.aborted) return false;
      this.#times.push(times);
      this.#onChange();
      return true;
    };
    try {
      await repeat(run, (untilMs) => this.#wait(untilMs, running.signal), repetition);
    } finally {
      this.#running = null;
      this.#nextAtMs = null;
      this.#onChange();
    }
  }

  stop(): void {
    this.#running?.abort();
  }

  async #verifyOnce(signal: AbortSignal): Promise<MonitoredTimes> {
    const atMs = Date.now();
    try {
      const { protocols } = await this.#verify(signal);
      const medianMs: MonitoredTimes['medianMs'] = {};
      for (const protocol of PROTOCOLS) {
        const median = protocols[protocol]?.medianMs ?? null;
        if (median !== null) medianMs[protocol] = median;
      }
      return { atMs, medianMs, problem: '' };
    } catch (error) {
      return { atMs, medianMs: {}, problem: messageOf(error) };
    }
  }

  async #wait(untilMs: number, signal: AbortSignal): Promise<boolean> {
    this.#nextAtMs = untilMs;
    this.#onChange();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, untilMs - Date.now());
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#nextAtMs = null;
    this.#onChange();
    return !signal.aborted;
  }
}

/** The protocol that leads by more than 5%; null where none does, or fewer than two were measured. */
export function findFastest({ medianMs }: MonitoredTimes): Protocol | null {
  const ordered = PROTOCOLS.filter((protocol) => medianMs[protocol] !== undefined).sort(
    (a, b) => medianMs[a]! - medianMs[b]!,
  );
  const [best, next] = ordered;
  if (best === undefined || next === undefined) return null;
  return medianMs[next]! > (1 + CLEAR_LEAD) * medianMs[best]! ? best : null;
}

/** What the verifications show together. */
interface Monitored {
  /** Verifications with times. */
  verified: number;
  /** How often each protocol was the fastest, most often first. */
  fastest: { protocol: Protocol; times: number }[];
  /** When another protocol than before was last the fastest, milliseconds since 1970; null when none was. */
  changedAtMs: number | null;
}

export function summarise(times: readonly MonitoredTimes[]): Monitored {
  const winners = times.flatMap((each) => {
    const protocol = findFastest(each);
    return protocol === null ? [] : [{ protocol, atMs: each.atMs }];
  });
  const change = winners.findLast(
    ({ protocol }, index) => index > 0 && winners[index - 1]!.protocol !== protocol,
  );
  const fastest = PROTOCOLS.map((protocol) => ({
    protocol,
    times: winners.filter((each) => each.protocol === protocol).length,
  }));
  return {
    verified: times.filter(({ problem }) => problem === '').length,
    fastest: fastest.filter((each) => each.times > 0).sort((a, b) => b.times - a.times),
    changedAtMs: change?.atMs ?? null,
  };
}
