import { isDeepStrictEqual } from 'node:util';
import {
  buildGraph,
  EmulationError,
  estimateNetwork,
  InputError,
  parseRecording,
  predict,
  type Recording,
  RecordingBytes,
  readRecording,
} from '@hopwise/pageload-emulator';
import { VALID } from '../../../../pageload-emulator/test/support/mutations.ts';
import { VERIFICATION } from '../../../../pageload-emulator/test/support/verification.ts';
import { type FuzzTarget, hold, json, parsed } from '../target.ts';

/** Predictions of more take too long for many executions. */
const PREDICTED_REQUESTS = 12;

/** Reads a file as `hopwise predict` does. */
function run(input: Uint8Array): void {
  const read = parsed(() => {
    const bytes = new RecordingBytes();
    bytes.add(input);
    return readRecording(bytes.end((kept) => new TextDecoder().decode(kept)));
  }, InputError);
  if (read === null) return;
  const { recording } = read;
  const again = parseRecording(JSON.stringify(recording));
  hold(isDeepStrictEqual(again, recording), 'a recording that was read is read again as it is');
  buildGraph(recording);
  estimateNetwork(recording);
  if (recording.requests.length <= PREDICTED_REQUESTS)
    parsed(() => predict(recording, { seeds: 1 }), EmulationError);
}

export const har: FuzzTarget = {
  title: 'HAR files, and what is made of them: page graph, network estimate, prediction',
  input: 'json',
  dictionary: [
    '"_initiator":',
    '"_priority":',
    '"pageref":',
    '"timings":',
    '-1',
    '1e999',
    'null',
    '\\ud800',
    '__proto__',
  ],
  seeds() {
    const { own: _, ...hars } = VALID;
    return Object.values(hars).map((text) => Buffer.from(text));
  },
  open: () => ({ run }),
};

export const recording: FuzzTarget = {
  title: "hopwise recordings and the extension's exports, and what is made of them",
  input: 'json',
  dictionary: ['"initiator":', '"requestId":', '"phases":', '-1', '1e999', 'null', '__proto__'],
  seeds() {
    const own: Recording = JSON.parse(VALID.own!);
    return [
      json(own),
      json({ format: 'hopwise-load', version: 1, recording: own, verification: VERIFICATION }),
    ];
  },
  open: () => ({ run }),
};
