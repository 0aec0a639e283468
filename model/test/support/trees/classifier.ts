/** Chooses between TCP and QUIC by boosted trees over WiseTrans's features, as `python -m hopwise_model export` writes them. */

import { InputError } from '@hopwise/pageload-emulator';
import { FEATURES } from '../../../src/features/window-features.ts';
import { readOnnx } from './onnx-file.ts';
import { TreeEnsemble } from './tree-ensemble.ts';

/** Version of the files, as in `model/python/hopwise_model/onnx_export.py`. */
const FORMAT_VERSION = '1';
const VERSION_KEY = 'hopwise.version';
const FEATURES_KEY = 'hopwise.features';

/** Name of the column that a joint model has besides: 0 for requests over TCP, 1 for QUIC. */
const PROTOCOL = 'protocol';

/** By how much one feature moved a decision. */
interface FeatureEffect {
  feature: string;
  value: number;
  /** The log ratio less what it would be if the feature were missing; positive speaks for QUIC. */
  effect: number;
}

export class Classifier {
  /** Names of the columns. */
  readonly features: readonly string[];
  readonly #trees: TreeEnsemble;

  /**
   * @param bytes an ONNX file
   * @throws InputError in one line for a file that is cut off, of another version, or for other features
   */
  constructor(bytes: Uint8Array) {
    const file = readOnnx(bytes);
    const version = file.metadata.get(VERSION_KEY);
    if (version !== FORMAT_VERSION) {
      throw new InputError(`model: ${VERSION_KEY}: expected ${FORMAT_VERSION}, got ${version ?? 'nothing'}`);
    }
    const features = file.metadata.get(FEATURES_KEY);
    const known = [FEATURES.join(), [...FEATURES, PROTOCOL].join()];
    if (features === undefined || !known.includes(features)) {
      throw new InputError(`model: ${FEATURES_KEY}: expected ${known[0]}, got ${features ?? 'nothing'}`);
    }
    this.features = features.split(',');
    this.#trees = new TreeEnsemble(file, this.features.length);
  }

  /**
   * Predicts log(time over TCP / time over QUIC): QUIC is faster where it is positive.
   *
   * @param row a value for each of `features`, NaN where missing
   */
  predictLogRatio(row: Float32Array): number {
    return this.#trees.predict(row);
  }

  /**
   * States what each known feature did to a prediction, the largest effect first. Each is removed alone, so that effects of features
   * that act together do not add up to the prediction.
   */
  explain(row: Float32Array): FeatureEffect[] {
    const predicted = this.#trees.predict(row);
    const effects = this.features.map((feature, column) => {
      const without = row.slice();
      without[column] = Number.NaN;
      return { feature, value: row[column]!, effect: predicted - this.#trees.predict(without) };
    });
    return effects
      .filter(({ value }) => !Number.isNaN(value))
      .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  }
}
