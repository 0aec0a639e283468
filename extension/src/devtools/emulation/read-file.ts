import { type Language, messageOf } from '@hopwise/contract';
import { InputError, type ReadRecording, RecordingBytes, readRecording } from '@hopwise/pageload-emulator';
import { predictLoad } from '../../background/predict-load.ts';
import { collectKnowledge } from '../../evidence/knowledge.ts';
import type { StoredLoad } from '../../storage/loads.ts';

/** A file as the panel shows it. */
export interface OpenedFile {
  name: string;
  /** As if it had been stored, with a number that no stored load has; `problem` as `predictLoad` returns it. */
  load: StoredLoad;
  /** What was taken of the file, each without a full stop. */
  notes: string[];
}

/** First bytes of gzip data (RFC 1952 section 2.3.1). */
const GZIP = [0x1f, 0x8b] as const;

/**
 * Reads a HAR, a hopwise recording or an exported load, plain, gzipped or zipped, and predicts it. Response bodies are never in memory.
 *
 * @param language of the prediction's sentences
 * @throws InputError in one line: the file's name, the place in it, what was expected there
 */
export async function readFile(file: File, language: Language): Promise<OpenedFile> {
  const name = file.name.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  try {
    const { recording, verification = null, notes } = readRecording(await readJson(file));
    return { name, load: await predict(recording, verification, language), notes };
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${name}: ${error.message}`);
    throw error;
  }
}

async function readJson(file: File): Promise<string> {
  const json = new RecordingBytes();
  const head = new Uint8Array(await bytesOf(file.slice(0, GZIP.length)));
  const isGzip = GZIP.every((byte, index) => head[index] === byte);
  const stream = isGzip ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      throw new InputError(
        isGzip
          ? `top level: expected gzip data, got ${error.message}`
          : `expected a readable file, got ${error.message}`,
      );
    });
    if (done) return json.end((kept) => new TextDecoder().decode(kept));
    json.add(value);
  }
}

/** A folder is a file whose bytes cannot be read. */
async function bytesOf(blob: Blob): Promise<ArrayBuffer> {
  try {
    return await blob.arrayBuffer();
  } catch (error) {
    throw new InputError(`expected a readable file, got ${messageOf(error)}`);
  }
}

async function predict(
  recording: ReadRecording['recording'],
  verification: NonNullable<ReadRecording['verification']> | null,
  language: Language,
): Promise<StoredLoad> {
  const load: StoredLoad = {
    id: -1,
    requestedUrl: recording.url,
    recording,
    hidesQueries: false,
    storedAtMs: 0,
    cluster: null,
    pinned: {},
    wasVisible: true,
    prediction: null,
    problem: '',
    verification,
    verifiedPrediction: null,
  };
  const knowledge = await collectKnowledge(load, [], async () => undefined);
  return {
    ...load,
    ...predictLoad(load, knowledge, language, 'shown'),
    verifiedPrediction:
      verification && predictLoad(load, knowledge, language, 'shown', verification).prediction,
    language,
  };
}
