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
  if (recording.requests.length > PREDICTED_REQUESTS) return;
  const prediction = parsed(() => predict(recording, { seeds: 1 }), EmulationError);
  if (prediction === null) return;
  const { rttMs, downMbps, upMbps, loss, queueBytes } = prediction.network;
  for (const figure of [rttMs, downMbps, upMbps, loss, queueBytes])
    hold(Number.isFinite(figure) && figure >= 0, 'what is estimated of the network is a number from 0');
}

/** A page that uploads something, from whose time the upstream rate is estimated, with fields that are left out while reading. */
function uploadHar(): object {
  const har = JSON.parse(VALID.chromium!);
  const headers = ['x-a', ':method', 'Referer', 'x-b'].map((name) => ({ name, value: 'https://shop.test/' }));
  for (const { request, response, timings } of har.log.entries) {
    Object.assign(request, {
      method: 'POST',
      bodySize: 200_000,
      headers,
      cookies: headers,
      postData: { params: headers },
    });
    Object.assign(response, { headers });
    Object.assign(timings, { send: 40, wait: 300 });
  }
  return har;
}

export const har: FuzzTarget = {
  title: 'HAR files, and what is made of them: page graph, network estimate, prediction',
  input: 'json',
  dictionary: [
    '"_initiator":',
    '"_priority":',
    '"pageref":',
    '"timings":',
    '"headers":[',
    '"cookies":[',
    '{"name":"referer","value":',
    '"bodySize":',
    '"send":',
    '-1',
    '1e999',
    'null',
    '\\ud800',
    '__proto__',
  ],
  seeds() {
    const { own: _, ...hars } = VALID;
    return [...Object.values(hars).map((text) => Buffer.from(text)), json(uploadHar())];
  },
  open: () => ({ run }),
};

export const recording: FuzzTarget = {
  title: "hopwise recordings and the extension's exports, and what is made of them",
  input: 'json',
  dictionary: [
    '"requestBodyBytes":',
    '"requestBodyMs":',
    '"initiator":',
    '"requestId":',
    '"phases":',
    '-1',
    '1e999',
    'null',
    '__proto__',
  ],
  seeds() {
    const own: Recording = JSON.parse(VALID.own!);
    return [
      json(own),
      json({ format: 'hopwise-load', version: 1, recording: own, verification: VERIFICATION }),
      json(parseRecording(uploadHar())),
    ];
  },
  open: () => ({ run }),
};
