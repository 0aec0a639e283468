/** The worker's side of the trees: starts them when they are first asked, and ends them when they are needed no more. */
import { messageOf, SerialQueue } from '@hopwise/contract';
import type { TimedTransport } from '@hopwise/model';
import type { ModelDescription } from './model-description.ts';
import { readPackagedDescription } from './packaged-files.ts';
import { type PredictionQuestion, predictionAnswerSchema } from './prediction-messages.ts';

const DOCUMENT = 'offscreen.html';
/** Requests of a session of browsing come closer together. */
const IDLE_MS = 60_000;
/** To start takes half a second on a slow machine, an answer less than a millisecond. */
const ANSWER_LIMIT_MS = 10_000;

/** Where the trees run. */
interface Host {
  predict(row: readonly number[], transport: TimedTransport): Promise<number>;
  end(): Promise<void>;
}

export class TransportTrees {
  readonly #startHost: () => Promise<Host>;
  readonly #readDescription: () => Promise<ModelDescription>;
  readonly #queue = new SerialQueue();
  #description: ModelDescription | null = null;
  #host: Host | null = null;
  /** They could not be started, or failed: the rule decides until the worker's next start. */
  #isBroken = false;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(startHost = startSuitableHost, readDescription = readPackagedDescription) {
    this.#startHost = startHost;
    this.#readDescription = readDescription;
  }

  /**
   * Predicts log(time over TCP / time over QUIC) of the next requests.
   *
   * @param row a value for each of `FEATURES`, NaN where missing
   * @param transport what the last ones went over
   * @returns null where the rule decides: over this transport, without features, or because the trees cannot be used
   */
  predict(row: Float32Array, transport: TimedTransport): Promise<number | null> {
    if (row.every(Number.isNaN)) return Promise.resolve(null);
    return this.#queue.run(async () => {
      if (this.#isBroken) return null;
      try {
        this.#description ??= await this.#readDescription();
        if (this.#description.uses[transport] === 'rule') return null;
        const logRatio = await withinLimit(this.#ask([...row], transport));
        clearTimeout(this.#idleTimer);
        this.#idleTimer = setTimeout(() => void this.release(), IDLE_MS);
        return logRatio;
      } catch (error) {
        console.warn(
          `hopwise: the rule chooses between TCP and QUIC, as the trees do not run: ${messageOf(error)}`,
        );
        this.#isBroken = true;
        await this.#endHost();
        return null;
      }
    });
  }

  /** Gives their memory back, until they are asked again. */
  release(): Promise<void> {
    return this.#queue.run(() => this.#endHost());
  }

  async #ask(row: readonly number[], transport: TimedTransport): Promise<number> {
    this.#host ??= await this.#startHost();
    return this.#host.predict(row, transport);
  }

  async #endHost(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const host = this.#host;
    this.#host = null;
    await host?.end().catch((error) => console.warn(`hopwise: trees: ${messageOf(error)}`));
  }
}

/** @throws Error where there is no answer in time */
async function withinLimit<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in 10 s')), ANSWER_LIMIT_MS);
  });
  return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
}

function startSuitableHost(): Promise<Host> {
  return 'offscreen' in chrome ? startDocument() : startHere();
}

/** In Firefox's background page. Service workers reject `import()`; the build keeps it, as a file of its own. */
async function startHere(): Promise<Host> {
  const { TreeSession } = await import('./tree-session.js');
  return TreeSession.start();
}

/** In Chromium's offscreen document, which outlives the worker. */
async function startDocument(): Promise<Host> {
  const { offscreen, runtime } = chrome;
  const contexts = await runtime.getContexts({ contextTypes: ['OFFSCREEN_DOCUMENT'] });
  if (contexts.length === 0)
    await offscreen.createDocument({
      url: DOCUMENT,
      reasons: ['WORKERS'],
      justification:
        'Runs a small model in WebAssembly, which would have to start anew with each start of the worker.',
    });
  return {
    predict: async (row, transport) => {
      const question: PredictionQuestion = {
        type: 'predict-transport',
        transport,
        row: row.map((value) => (Number.isFinite(value) ? value : null)),
      };
      const answer = predictionAnswerSchema.safeParse(await runtime.sendMessage(question));
      if (!answer.success) throw new Error('the offscreen document does not answer');
      if (!answer.data.ok) throw new Error(answer.data.error);
      return answer.data.logRatio;
    },
    end: () => offscreen.closeDocument(),
  };
}
