import { parseRecording, type RequestPhases } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';
const DOCUMENT = chromiumEntry(PAGE, 0, { connect: 100, ssl: 60, send: 0.2, wait: 50, receive: 5 });

/** The phases of a file that was requested after 200 ms. */
function phasesOf(timings: object, document = DOCUMENT, request: object = {}): RequestPhases {
  const file = chromiumEntry(`${PAGE}x.png`, 200, timings) as { request: object };
  file.request = { ...file.request, ...request };
  return parseRecording(harOf([document, file])).requests[1]!.phases;
}

it('a request that is answered before it could have been, had left when sending began', () => {
  expect(phasesOf({ send: 60, wait: 0.1, receive: 5 })).toMatchObject({
    requestStartMs: 200,
    responseStartMs: 260.1,
  });
  expect(phasesOf({ send: 60, wait: 19, receive: 5 })).toMatchObject({ requestStartMs: 200 });
});

it('where the answer took a round trip, what came before was a wait for dispatch', () => {
  expect(phasesOf({ send: 60, wait: 41, receive: 5 })).toMatchObject({ requestStartMs: 260 });
});

it('a server that shows no round trip may be near', () => {
  const unseen = chromiumEntry(PAGE, 0, { send: 2, wait: 3, receive: 5 });
  expect(phasesOf({ send: 60, wait: 3, receive: 5 }, unseen)).toMatchObject({ requestStartMs: 260 });
  expect(phasesOf({ send: 60, wait: 0.1, receive: 5 }, unseen)).toMatchObject({ requestStartMs: 200 });
});

it('a handshake that is not parted from TLS shows no single round trip', () => {
  const whole = chromiumEntry(PAGE, 0, { connect: 100, send: 2, wait: 50, receive: 5 });
  expect(phasesOf({ send: 60, wait: 19, receive: 5 }, whole)).toMatchObject({ requestStartMs: 260 });
});
