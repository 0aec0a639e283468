/** Loads of the example project's page as the fixtures return them. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { namedPath, parseRecording } from '@hopwise/pageload-emulator';
import type { ReplayLoad } from '../../src/playwright/load.ts';

const PAGE = new URL('../../examples/playwright/pages/app.json.gz', import.meta.url);

export const RECORDING = parseRecording(gunzipSync(readFileSync(PAGE)).toString());

/** An undisturbed load without requests of 2.4 s by the browser's own choice on `cable`, except for `changes`. */
export const loadOf = (changes: object = {}): ReplayLoad =>
  ({
    page: 'app',
    url: 'https://app.test/',
    protocol: 'natural',
    view: 'cold',
    seed: 1,
    network: { name: 'cable', path: namedPath('cable') },
    recording: RECORDING,
    repeated: 0,
    disturbedBy: [],
    pltMs: 2400,
    fcpMs: 600,
    lcpMs: null,
    requests: [],
    failed: [],
    proved: true,
    ...changes,
  }) as unknown as ReplayLoad;
