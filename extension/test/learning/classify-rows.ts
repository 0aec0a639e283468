/** Runs in a page: the classifier on generated rows. */
import { generateRows } from '../../../model/test/support/generated-rows.ts';
import { Classifier } from '../../../model/test/support/trees/classifier.ts';

export interface Golden {
  /** The model, and its answers as float32, in base64. */
  model: string;
  answers: string;
}

/** Rows that are timed together, for long enough for a browser's clock. */
const PART = 500;

export interface ClassifierRun {
  rows: number;
  maxDifference: number;
  /** In the fastest part of the rows: other work on the machine slows the others down. */
  msPerDecision: number;
}

export function classifyRows({ model, answers }: Golden): ClassifierRun {
  const classifier = new Classifier(bytesOf(model));
  const expected = new Float32Array(bytesOf(answers).buffer);
  const rows = generateRows(expected.length);
  const predicted: number[] = [];
  let msPerDecision = Number.POSITIVE_INFINITY;
  while (predicted.length < rows.length) {
    const part = rows.slice(predicted.length, predicted.length + PART);
    const startMs = performance.now();
    for (const row of part) predicted.push(classifier.predictLogRatio(row));
    msPerDecision = Math.min(msPerDecision, (performance.now() - startMs) / part.length);
  }
  const maxDifference = predicted.reduce(
    (max, value, index) => Math.max(max, Math.abs(value - expected[index]!)),
    0,
  );
  return { rows: rows.length, maxDifference, msPerDecision };
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
