/** Runs in a page: the classifier on generated rows. */
import { Classifier } from '@hopwise/model';
import { generateRows } from '../../../model/test/generated-rows.ts';

export interface Golden {
  /** The model, and its answers as float32, in base64. */
  model: string;
  answers: string;
}

export interface ClassifierRun {
  rows: number;
  maxDifference: number;
  msPerDecision: number;
}

export function classifyRows({ model, answers }: Golden): ClassifierRun {
  const classifier = new Classifier(bytesOf(model));
  const expected = new Float32Array(bytesOf(answers).buffer);
  const rows = generateRows(expected.length);
  const startMs = performance.now();
  const predicted = rows.map((row) => classifier.predictLogRatio(row));
  const msPerDecision = (performance.now() - startMs) / rows.length;
  const maxDifference = predicted.reduce(
    (max, value, index) => Math.max(max, Math.abs(value - expected[index]!)),
    0,
  );
  return { rows: rows.length, maxDifference, msPerDecision };
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
