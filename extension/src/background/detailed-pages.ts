/**
 * Which pages are recorded in detail: those of which the light recording of the last load leaves a question open. None are where the
 * user has not allowed it.
 */
import { SerialQueue } from '@hopwise/contract';
import * as z from 'zod/mini';
import { registerDetailedScript } from '../recorder/register-content-script.ts';
import { canListen } from '../recorder/web-request.ts';
import { readSettings } from '../storage/settings.ts';
import { maskQuery } from '../storage/strip-urls.ts';

const KEY = 'detailed-pages';
const ALL_PAGES = ['http://*/*', 'https://*/*'];
/** Pages that wait for their next load; the oldest is given up. */
const MAX_PAGES = 20;
/** A page that is not loaded again in this time is given up. */
const MAX_WAIT_MS = 3 * 24 * 3_600_000;
/** At most this share of all loads is recorded in detail because hopwise wants it. */
const MAX_SHARE = 1 / 10;
/** Loads whose share may be spent at once, as pages come in bursts. */
const MAX_SAVED_LOADS = 20;

const stateSchema = z.object({
  /** By URL without query string: when the wish was noted, milliseconds since 1970. */
  wanted: z.record(z.string(), z.number()),
  /** Loads whose share has not been spent. */
  savedLoads: z.number(),
});
type State = z.infer<typeof stateSchema>;

const startState = (): State => ({ wanted: {}, savedLoads: MAX_SAVED_LOADS });

export class DetailedPages {
  readonly #changes = new SerialQueue();
  #state = startState();
  #isForAll = false;
  /** Until then no page is known. */
  readonly ready: Promise<void> = this.#changes.run(async () => {
    const stored = stateSchema.safeParse((await chrome.storage.session.get(KEY))[KEY]);
    if (stored.success) this.#state = stored.data;
    this.#isForAll = await isWantedForAll();
    // Browsers keep the registration as long as the state: while they run.
    if (this.#isForAll && !stored.success) await this.#register();
  });

  /** Whether the user wants every load recorded in detail. */
  get isForAll(): boolean {
    return this.#isForAll;
  }

  has(url: string): boolean {
    return this.#isForAll || maskQuery(url) in this.#state.wanted;
  }

  /** The settings have changed. */
  async update(): Promise<void> {
    const isForAll = await isWantedForAll();
    if (isForAll === this.#isForAll) return;
    this.#isForAll = isForAll;
    await this.#changes.run(() => this.#register());
  }

  /** The next load of a page is to be recorded in detail, because a person looks at it. */
  async want(url: string): Promise<void> {
    if (!canListen()) return;
    await this.#change((state) => {
      state.wanted[maskQuery(url)] = Date.now();
    });
  }

  /**
   * The same because of what a load leaves open. Has no effect where too many loads would be recorded so.
   */
  async wantIfRare(url: string): Promise<void> {
    // Most are asked for a page of which nothing can be wanted: this costs them nothing.
    await this.ready;
    if (!canListen() || this.#state.savedLoads * MAX_SHARE < 1 || this.has(url)) return;
    await this.#change((state) => {
      state.savedLoads -= 1 / MAX_SHARE;
      state.wanted[maskQuery(url)] = Date.now();
    });
  }

  /** A load has been recorded. @param isDetailed whether in detail: its page then waits no longer */
  noteLoad(url: string, isDetailed: boolean): Promise<void> {
    return this.#change((state) => {
      state.savedLoads = Math.min(MAX_SAVED_LOADS, state.savedLoads + 1);
      if (isDetailed) delete state.wanted[maskQuery(url)];
    });
  }

  /** Forgets all pages, and how many loads were recorded in detail. */
  forgetAll(): Promise<void> {
    return this.#change((state) => Object.assign(state, startState()));
  }

  /** Forgets pages. */
  forget(isForgotten: (url: string) => boolean): Promise<void> {
    return this.#change((state) => {
      for (const url of Object.keys(state.wanted)) if (isForgotten(url)) delete state.wanted[url];
    });
  }

  #change(change: (state: State) => void): Promise<void> {
    return this.#changes.run(async () => {
      const before = Object.keys(this.#state.wanted).join();
      change(this.#state);
      const newest = Object.entries(this.#state.wanted)
        .filter(([, atMs]) => Date.now() - atMs < MAX_WAIT_MS)
        .sort(([, a], [, b]) => a - b)
        .slice(-MAX_PAGES);
      this.#state.wanted = Object.fromEntries(newest);
      await chrome.storage.session.set({ [KEY]: this.#state });
      if (Object.keys(this.#state.wanted).join() !== before) await this.#register();
    });
  }

  #register(): Promise<void> {
    return registerDetailedScript(
      this.#isForAll ? ALL_PAGES : [...new Set(Object.keys(this.#state.wanted).map(toPattern))],
    );
  }
}

const isWantedForAll = async (): Promise<boolean> => canListen() && (await readSettings()).recordsInDetail;

/** The match pattern of a page, whatever its query string; patterns have no ports. */
function toPattern(url: string): string {
  const { protocol, hostname, pathname } = new URL(url);
  return `${protocol}//${hostname}${pathname}*`;
}
