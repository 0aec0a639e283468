import { readFileSync } from 'node:fs';
import { InputError } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { generateRows } from '../support/generated-rows.ts';
import { Classifier } from '../support/trees/classifier.ts';

const golden = (name: string) => readFileSync(new URL(`../../golden/${name}`, import.meta.url));
const MODEL = golden('classifier.onnx');

/** The model with each occurrence of a word replaced by another one of the same length. */
function replaceWord(word: string, other: string): Uint8Array {
  const text = MODEL.toString('latin1');
  expect(text).toContain(word);
  return Buffer.from(text.replaceAll(word, other), 'latin1');
}

function errorOf(bytes: Uint8Array): string {
  try {
    new Classifier(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as Error).message;
  }
  return '';
}

describe('the classifier', () => {
  const classifier = new Classifier(MODEL);

  it('answers 10,000 rows as XGBoost does in Python', () => {
    const answers = golden('classifier-answers.bin');
    const differences = generateRows(10_000).map((row, index) =>
      Math.abs(classifier.predictLogRatio(row) - answers.readFloatLE(4 * index)),
    );
    expect(answers).toHaveLength(4 * differences.length);
    expect(Math.max(...differences)).toBeLessThanOrEqual(1e-6);
  });

  it('states what each known feature did to a prediction, the largest effect first', () => {
    const [first] = generateRows(1);
    const row = first!.slice();
    row[classifier.features.indexOf('ttfb_ms')] = Number.NaN;
    const effects = classifier.explain(row);
    const known = classifier.features.filter((_, column) => !Number.isNaN(row[column]));
    expect(effects.map(({ feature }) => feature).sort()).toEqual([...known].sort());
    const sizes = effects.map(({ effect }) => Math.abs(effect));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    for (const { feature, value, effect } of effects) {
      const without = row.slice();
      without[classifier.features.indexOf(feature)] = Number.NaN;
      expect(effect).toBe(classifier.predictLogRatio(row) - classifier.predictLogRatio(without));
      expect(value).toBe(row[classifier.features.indexOf(feature)]);
    }
  });

  it('refuses a file that is cut off anywhere, in one line', () => {
    for (let length = 0; length < MODEL.length; length += 997) {
      const message = errorOf(MODEL.subarray(0, length));
      expect(message, `${length} bytes`).toMatch(/^model: .*expected .+/);
      expect(message.split('\n')).toHaveLength(1);
    }
  });

  it.each([
    [
      'of another version',
      replaceWord('hopwise.version', 'hopwise.revised'),
      'hopwise.version: expected 1, got nothing',
    ],
    ['for other features', replaceWord('mean_rtt_ms', 'mean_rtt_us'), 'hopwise.features: expected '],
    [
      'of another operator',
      replaceWord('TreeEnsembleRegressor', 'TreeEnsembleRegreßor'),
      'TreeEnsembleRegressor',
    ],
    ['that is no ONNX file', Buffer.from('{"trees":[]}'), 'expected an ONNX file'],
  ])('refuses a file %s', (_words, bytes, expected) => {
    expect(errorOf(bytes)).toContain(expected);
  });
});
