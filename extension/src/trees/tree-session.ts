/** Entry point of a module of its own, which nothing loads while the trees are not used: ONNX Runtime Web, and a session of it. */
import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { type ModelDescription, TRANSPORT_COLUMN } from './model-description.ts';
import { readPackagedDescription, readPackagedRuntime, readPackagedTrees } from './packaged-files.ts';

const INPUT = 'features';

/** Trees over the features of an origin's requests. */
export class TreeSession {
  readonly #session: InferenceSession;
  readonly #description: ModelDescription;

  private constructor(session: InferenceSession, description: ModelDescription) {
    this.#session = session;
    this.#description = description;
  }

  /** Starts the packaged trees. @throws Error in one line where they, or WebAssembly, cannot be used */
  static async start(): Promise<TreeSession> {
    const description = await readPackagedDescription();
    const [trees, runtime] = await Promise.all([readPackagedTrees(description), readPackagedRuntime()]);
    return TreeSession.of(trees, description, runtime);
  }

  /** Starts trees. @param runtime the WebAssembly of ONNX Runtime Web */
  static async of(
    trees: Uint8Array,
    description: ModelDescription,
    runtime: ArrayBuffer,
  ): Promise<TreeSession> {
    // More than one thread needs SharedArrayBuffer, and one tree takes microseconds.
    env.wasm.numThreads = 1;
    env.wasm.wasmBinary = runtime;
    const session = await InferenceSession.create(trees, { executionProviders: ['wasm'] });
    return new TreeSession(session, description);
  }

  /**
   * Predicts log(time over TCP / time over QUIC): QUIC is faster where it is positive.
   *
   * @param row a value for each of `FEATURES`, NaN where missing
   * @param transport what the requests went over
   */
  async predict(row: readonly number[], transport: 'tcp' | 'quic'): Promise<number> {
    const { features } = this.#description;
    const isJoint = features.at(-1) === TRANSPORT_COLUMN;
    const values = isJoint ? [...row, transport === 'quic' ? 1 : 0] : row;
    const input = new Tensor('float32', Float32Array.from(values), [1, features.length]);
    const outputs = await this.#session.run({ [INPUT]: input });
    const [predicted] = outputs[this.#session.outputNames[0]!]!.data as Float32Array;
    if (predicted === undefined || !Number.isFinite(predicted))
      throw new Error(`transport.onnx: expected a finite answer, got ${predicted}`);
    return predicted;
  }

  end(): Promise<void> {
    return this.#session.release();
  }
}
