import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { firstLine, median } from '@hopwise/contract';
import { ROOT } from '@hopwise/lab/paths';
import * as z from 'zod';
import { type Claim, incomparable } from '../claim.ts';

const BENCH = join(ROOT, 'bench/src/pins/pin-effect.ts');
const CONGESTION_CONTROLS = '/proc/sys/net/ipv4/tcp_available_congestion_control';

/** What `bench/src/pins/pin-effect.ts --json` prints: milliseconds until a pin takes effect. */
const pinTimesSchema = z.object({
  running: z.array(z.number()).check(z.minLength(1)),
  starting: z.array(z.number()).check(z.minLength(1)),
});

export const vtlClaims = (): Claim[] => [
  {
    id: 'vtl-activation',
    paper: 'vtl',
    place: 'Table II',
    stated: 'the redirection is active after 0.869 s, precompiled after 0.183 s',
    measure: async ({ quick }, { signal }) => {
      if (quick) return { kind: 'skipped', reason: 'pins in Chromium take minutes: run without --quick' };
      const times = await measurePins(signal);
      if (typeof times === 'string') return { kind: 'skipped', reason: times };
      const [running, starting] = [times.running, times.starting].map(
        (each) => `${median(each).toFixed(0)} ms`,
      );
      return {
        kind: 'incomparable',
        reason: `VTL's programs are not released; a pin on an open page of real Chromium takes effect after ${running}, where the helper has to start after ${starting} (medians)`,
      };
    },
  },
  {
    id: 'vtl-redirection',
    paper: 'vtl',
    place: 'Table II',
    stated: 'redirecting a packet costs 2.03 ms, of which 11 µs in the kernel',
    measure: incomparable(
      "VTL's programs are not released, and a pin's tunnel copies streams, not packets: npm run bench -- tunnel measures what it costs beside another proxy",
    ),
  },
  {
    id: 'vtl-trees',
    paper: 'vtl',
    place: 'Tables III and IV',
    stated: 'decision trees choose the protocol with a precision of 79.5 and 86% in unseen cases',
    measure: incomparable('the 146 labelled cases are not released'),
  },
  {
    id: 'vtl-satellite',
    paper: 'vtl',
    place: 'Figures 2 and 9',
    stated: 'at 600 ms and 4 Mbit/s applications that bear no loss gain by Hybla in place of TCP',
    measure: async () => {
      const controls = await readFile(CONGESTION_CONTROLS, 'utf8').catch(() => '');
      return controls.split(/\s+/).includes('hybla')
        ? { kind: 'skipped', reason: "the lab's servers cannot be set to Hybla, which this kernel has" }
        : { kind: 'incomparable', reason: 'this kernel has no Hybla' };
    },
  },
  {
    id: 'vtl-gain',
    paper: 'vtl',
    place: 'Figure 9',
    stated: 'applications are about 5 times as fast in most scenarios',
    measure: incomparable(
      'it replaces TCP by UDP-Lite, SCTP and DCCP, over which no browser and no server speaks HTTP',
    ),
  },
];

/** @returns why pins cannot be measured here, or their times */
async function measurePins(signal: AbortSignal): Promise<z.infer<typeof pinTimesSchema> | string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [BENCH, '--json'], { signal });
    return pinTimesSchema.parse(JSON.parse(stdout));
  } catch (error) {
    signal.throwIfAborted();
    return `npm run bench -- pin failed: ${firstLine(error)}`;
  }
}
