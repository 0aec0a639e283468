import type { Protocol } from '@hopwise/pageload-emulator';
import type { VerificationState } from '../messages/page-messages.ts';
import { type StoredLoad, updateLoad } from '../storage/loads.ts';
import { assess, planOf } from './predict-load.ts';
import { HelperError, verifyWithHelper } from '../helper/native-client.ts';
import { networkVerified } from './network-memory.ts';

const KEY = 'verification';

export interface VerifyOptions {
  protocols?: Protocol[] | undefined;
  rounds?: number | undefined;
  budgetBytes?: number | undefined;
}

const DEFAULT_ROUNDS = 3;

/**
 * The verification under way, or the last one. One at a time: two would share the link and spoil
 * each other's times. Its state outlives the worker in `storage.session`; the open native port
 * keeps the worker itself alive meanwhile.
 */
export class Verifications {
  #state: VerificationState = { state: 'none' };
  #abort: AbortController | null = null;
  readonly #ready: Promise<void>;

  constructor() {
    this.#ready = this.#restore();
  }

  async #restore(): Promise<void> {
    const kept = (await chrome.storage.session.get(KEY))[KEY] as VerificationState | undefined;
    if (!kept) return;
    this.#state =
      kept.state === 'running'
        ? {
            state: 'failed',
            loadId: kept.loadId,
            code: 'interrupted',
            message: 'The browser stopped the extension during the verification. Start it again.',
          }
        : kept;
  }

  /** @throws Error when one is running or the load cannot be verified */
  async start(load: StoredLoad, options: VerifyOptions): Promise<VerificationState> {
    await this.#ready;
    if (this.#state.state === 'running') throw new Error('A verification is running. Wait for it to end.');
    const protocols = options.protocols ?? ['h1', 'h2', 'h3'];
    const rounds = options.rounds ?? DEFAULT_ROUNDS;
    const plan = planOf(load.recording);
    const budgetBytes = options.budgetBytes ?? null;
    const abort = new AbortController();
    this.#abort = abort;
    this.#set({
      state: 'running',
      loadId: load.id,
      doneTransfers: 0,
      allTransfers: plan.transfers.length * protocols.length * rounds,
      protocol: null,
      round: 0,
    });
    void this.#run(load, { plan, protocols, rounds, budgetBytes }, abort.signal);
    return this.#state;
  }

  async #run(
    load: StoredLoad,
    probe: Parameters<typeof verifyWithHelper>[0],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const verification = await verifyWithHelper(
        probe,
        ({ doneTransfers, allTransfers, protocol, round }) =>
          this.#set({ state: 'running', loadId: load.id, doneTransfers, allTransfers, protocol, round }),
        signal,
      );
      const verifiedPrediction = assess(load, verification).prediction;
      await updateLoad(load.id, { verification, verifiedPrediction });
      await networkVerified(load, verification);
      this.#set({ state: 'done', loadId: load.id });
    } catch (error) {
      const code = error instanceof HelperError ? error.code : 'internal';
      const message = error instanceof Error ? error.message : String(error);
      this.#set({ state: 'failed', loadId: load.id, code, message });
    } finally {
      this.#abort = null;
    }
  }

  cancel(): void {
    this.#abort?.abort();
  }

  /** State of the verification of a load. */
  async of(load: StoredLoad): Promise<VerificationState> {
    await this.#ready;
    if (this.#state.state !== 'none' && this.#state.loadId === load.id) return this.#state;
    return load.verification ? { state: 'done', loadId: load.id } : { state: 'none' };
  }

  #set(state: VerificationState): void {
    this.#state = state;
    void chrome.storage.session.set({ [KEY]: state });
  }
}
