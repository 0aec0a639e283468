import { assignmentsToVerify, type Protocol } from '@hopwise/pageload-emulator';
import { HelperError } from '../helper/helper-port.ts';
import { describeError } from '../language/describe-error.ts';
import { loadLanguage } from '../language/load-language.ts';
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import type { VerificationState } from '../messages/load-messages.ts';
import { type StoredLoad, updateLoad } from '../storage/loads.ts';
import { restoreQueries, stripVerification } from '../storage/strip-load.ts';
import { maskUrlsInText } from '../storage/strip-urls.ts';
import { readQueries } from './known-queries.ts';
import { learnFromVerification } from './network-memory.ts';
import { planVerification } from './predict-load.ts';
import { findBudget } from './verification-budget.ts';
import { verifyAndCount } from './verify-and-count.ts';

const KEY = 'verification';

interface VerifyOptions {
  protocols?: Protocol[] | undefined;
  rounds?: number | undefined;
  budgetBytes?: number | undefined;
}

const DEFAULT_ROUNDS = 3;

/**
 * The running verification, or the last one. Only one runs at a time: two would share the link and distort each other's
 * times. Its state is kept in `storage.session`, which outlives the worker; while it runs, the open native port keeps the
 * worker alive.
 */
export class Verifications {
  #state: VerificationState = { state: 'none' };
  /** The last one's; null once that is forgotten. */
  #abort: AbortController | null = null;
  #restored: Promise<void> | null = null;
  #isSet = false;
  readonly #onVerified: (loadId: number) => void;

  /** @param onVerified called when a load has its verification, before that is reported */
  constructor(onVerified: (loadId: number) => void = () => undefined) {
    this.#onVerified = onVerified;
  }

  /** Resolves once the last worker's verification is known. */
  get #ready(): Promise<void> {
    this.#restored ??= this.#restore();
    return this.#restored;
  }

  async #restore(): Promise<void> {
    const kept = (await chrome.storage.session.get(KEY))[KEY] as VerificationState | undefined;
    if (kept?.state === 'running') await loadLanguage();
    // One that was begun or forgotten in the meantime counts.
    if (!kept || this.#isSet) return;
    this.#state =
      kept.state === 'running'
        ? {
            state: 'failed',
            loadId: kept.loadId,
            code: 'interrupted',
            message: t('verifyInterrupted'),
          }
        : kept;
  }

  /** @throws Error when another verification is running or the load cannot be verified */
  async start(load: StoredLoad, options: VerifyOptions): Promise<VerificationState> {
    await this.#ready;
    const queries = await readQueries(load, 'verify');
    const budgetBytes = options.budgetBytes ?? (await findBudget());
    // From here to the new state without a pause: another start would pass too.
    if (this.#state.state === 'running') throw new ShownError(() => t('verifyRunning'));
    const protocols = options.protocols ?? ['h1', 'h2', 'h3'];
    const rounds = options.rounds ?? DEFAULT_ROUNDS;
    const plan = planVerification(restoreQueries(load.recording, queries));
    const decision = load.prediction?.decision;
    const assignments = decision ? assignmentsToVerify(decision) : [];
    const abort = new AbortController();
    this.#abort = abort;
    this.#set({
      state: 'running',
      loadId: load.id,
      doneTransfers: 0,
      allTransfers: plan.transfers.length * (protocols.length + assignments.length) * rounds,
      protocol: 'starting',
      round: 0,
    });
    void this.#run(load, { plan, protocols, assignments, rounds, budgetBytes }, abort.signal);
    return this.#state;
  }

  async #run(
    load: StoredLoad,
    probe: Parameters<typeof verifyAndCount>[0],
    signal: AbortSignal,
  ): Promise<void> {
    // One that was forgotten ends later, when the next one may be running.
    const tell = (state: VerificationState) => {
      if (this.#abort?.signal === signal) this.#set(state);
    };
    try {
      const reported = await verifyAndCount(
        probe,
        ({ doneTransfers, allTransfers, protocol, round }) => {
          tell({
            state: 'running',
            loadId: load.id,
            doneTransfers,
            allTransfers,
            protocol: protocol ?? 'assigned',
            round,
          });
        },
        signal,
      );
      const verification = load.hidesQueries ? stripVerification(reported, load.recording.url) : reported;
      await updateLoad(load.id, { verification, prediction: null, verifiedPrediction: null });
      await learnFromVerification(load, verification);
      this.#onVerified(load.id);
      tell({ state: 'done', loadId: load.id });
    } catch (error) {
      const code = error instanceof HelperError ? error.code : 'internal';
      const message = maskUrlsInText(await describeError(error));
      tell({ state: 'failed', loadId: load.id, code, message });
    }
  }

  cancel(): void {
    this.#abort?.abort();
  }

  /** Ends the running verification and forgets the last one. */
  forgetLast(): void {
    this.cancel();
    this.#abort = null;
    this.#set({ state: 'none' });
  }

  /** State of the verification of a load. */
  async getState(load: StoredLoad): Promise<VerificationState> {
    await this.#ready;
    if (this.#state.state !== 'none' && this.#state.loadId === load.id) return this.#state;
    return load.verification ? { state: 'done', loadId: load.id } : { state: 'none' };
  }

  #set(state: VerificationState): void {
    this.#isSet = true;
    this.#state = state;
    void chrome.storage.session.set({ [KEY]: state });
  }
}
