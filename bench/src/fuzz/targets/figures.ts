import { isDeepStrictEqual } from 'node:util';
import {
  InputError,
  knownFrom,
  learnForSite,
  learnNetwork,
  measuredBy,
  NETWORK_FLAGS,
  parseCluster,
  parseRecording,
  parseVerification,
  poolClusters,
  poolForSite,
} from '@hopwise/pageload-emulator';
import { parsePcwnd, parsePcwndCounts } from '@hopwise/pageload-emulator/econ';
import { chromiumHar } from '../../../../pageload-emulator/test/support/hars.ts';
import { VERIFICATION } from '../../../../pageload-emulator/test/support/verification.ts';
import { type FuzzTarget, hold, json, parsed } from '../target.ts';

const text = (input: Uint8Array): string => new TextDecoder().decode(input);

export const verification: FuzzTarget = {
  title: 'the JSON of a verification, and the figures that are taken of it',
  input: 'json',
  seeds: () => [json(VERIFICATION), json({ format: 'hopwise-load', version: 1, verification: VERIFICATION })],
  open: () => ({
    run(input) {
      const read = parsed(() => parseVerification(text(input)), InputError);
      if (read === null) return;
      hold(
        isDeepStrictEqual(parseVerification(JSON.stringify(read)), read),
        'a verification is read again as it is',
      );
      const { rttMs = 0 } = measuredBy(read) as { rttMs?: number };
      hold(Number.isFinite(rttMs) && rttMs >= 0, 'a measured round trip is a number from 0');
    },
  }),
};

/** The lines of an input are values of all flags. */
export const networkFlags: FuzzTarget = {
  title: 'values of the network flags',
  input: 'bytes',
  dictionary: ['open', 'blocked', '0x10', '1e9', 'Infinity', '-0', '.', ' 5 '],
  seeds: () => ['60', '0.01', 'open', 'blocked', '3', '1e3', '-1', 'x'].map((value) => Buffer.from(value)),
  open: () => ({
    run(input) {
      for (const { name, parse } of NETWORK_FLAGS) {
        const value = parsed(() => parse(text(input)), InputError);
        if (value === null) continue;
        const known = knownFrom({ [name]: value }, () => 1e6);
        for (const figure of Object.values(known)) {
          hold(
            typeof figure === 'object' || (Number.isFinite(figure) && figure >= 0),
            `${name} is a number from 0`,
          );
        }
      }
    },
  }),
};

const WINDOWS = [
  { cwnd: 10, rounds: 40, packets: 400, lossEvents: 2 },
  { cwnd: 20, rounds: 9, packets: 175, lossEvents: 0 },
];

export const pcwnd: FuzzTarget = {
  title: 'files of loss by congestion window, `cwnd,p` and counts',
  input: 'json',
  dictionary: ['cwnd,p\n', '\r\n', '1e9', ',0.5\n', '\uFEFF'],
  seeds: () => [
    Buffer.from('cwnd,p\n10,0.005\n20,0\n'),
    json({ format: 'hopwise-pcwnd', version: 1, windows: WINDOWS }),
  ],
  open: () => ({
    run(input) {
      const rows = parsed(() => parsePcwnd(text(input)), InputError);
      if (rows !== null) {
        const written = `cwnd,p\n${rows.map(({ cwnd, p }) => `${cwnd},${p}\n`).join('')}`;
        hold(isDeepStrictEqual(parsePcwnd(written), rows), 'rows are read again as they are');
      }
      parsed(() => parsePcwndCounts(text(input)), InputError);
    },
  }),
};

export const cluster: FuzzTarget = {
  title: 'what earlier loads showed of a network, as stored',
  input: 'json',
  seeds: () => [json(learnNetwork(null, parseRecording(chromiumHar())))],
  open() {
    const recording = parseRecording(chromiumHar());
    const own = learnNetwork(null, recording);
    return {
      run(input) {
        let value: unknown;
        try {
          value = JSON.parse(text(input));
        } catch {
          return;
        }
        const read = parseCluster(value);
        if (read === null) return;
        const next = learnNetwork(read, recording);
        const known = [
          next,
          learnForSite(read, { sites: [own, read] }, recording).cluster,
          poolClusters({ sites: [own, read, next], check: read }),
          poolForSite(own, { sites: [read] }),
        ];
        for (const each of known)
          hold(
            parseCluster(JSON.parse(JSON.stringify(each))) !== null,
            'what is learned and pooled can be stored and read',
          );
      },
    };
  },
};
