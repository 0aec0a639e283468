import type { Cause } from '@hopwise/pageload-emulator';
import { type PlainKey, t } from '../language/translate.ts';

const NAMES: Record<Cause, PlainKey> = {
  page: 'causePage',
  script: 'causeScript',
  turn: 'causeTurn',
  connect: 'causeConnect',
  roundTrip: 'causeRoundTrip',
  server: 'causeServer',
  loss: 'causeLoss',
  transfer: 'causeTransfer',
};

/** A cause of load time on the critical path, as in "900 ms round trips of requests". */
export const nameCause = (cause: Cause): string => t(NAMES[cause]);
