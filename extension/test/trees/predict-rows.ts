/** Runs in a page: ONNX Runtime Web on generated rows. */
import { FEATURES } from '@hopwise/model';
import { generateRows } from '../../../model/test/support/generated-rows.ts';
import { TreeSession } from '../../src/trees/tree-session.ts';

export interface Golden {
  /** The model, its answers as float32, and the WebAssembly, compressed; in base64. */
  model: string;
  answers: string;
  runtime: string;
}

/** Rows that are timed together, for long enough for a browser's clock. */
const PART = 500;

export interface PredictionRun {
  rows: number;
  maxDifference: number;
  /** From the compressed WebAssembly to a session. */
  sessionMs: number;
  /** In the fastest part of the rows: other work on the machine slows the others down. */
  msPerDecision: number;
}

export async function predictRows({ model, answers, runtime }: Golden): Promise<PredictionRun> {
  const expected = new Float32Array(bytesOf(answers).buffer);
  const features = [...FEATURES, 'protocol'];
  const uses = { tcp: 'trees', quic: 'trees' } as const;
  const beginMs = performance.now();
  const compressed = new Blob([bytesOf(runtime)]).stream();
  const opened = new Response(compressed.pipeThrough(new DecompressionStream('gzip')));
  const session = await TreeSession.of(
    bytesOf(model),
    { format: 1, features, sha256: '', uses },
    await opened.arrayBuffer(),
  );
  const sessionMs = performance.now() - beginMs;
  const rows = generateRows(expected.length);
  const predicted: number[] = [];
  let msPerDecision = Number.POSITIVE_INFINITY;
  while (predicted.length < rows.length) {
    const part = rows.slice(predicted.length, predicted.length + PART);
    const startMs = performance.now();
    for (const row of part)
      predicted.push(
        await session.predict([...row.slice(0, FEATURES.length)], row.at(-1) === 1 ? 'quic' : 'tcp'),
      );
    msPerDecision = Math.min(msPerDecision, (performance.now() - startMs) / part.length);
  }
  await session.end();
  const maxDifference = predicted.reduce(
    (max, value, index) => Math.max(max, Math.abs(value - expected[index]!)),
    0,
  );
  return { rows: rows.length, maxDifference, sessionMs, msPerDecision };
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
