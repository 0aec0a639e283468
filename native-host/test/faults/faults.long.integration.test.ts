import { it } from 'vitest';
import { expectFaultsHandled } from './judged-faults.ts';

/** A minute each for the cases and for those that are run again, on a machine several times slower. */
const LIMIT_MS = 400_000;

it(
  'ends 200 random faults in mid-transfer with the right bytes or the browser’s own error',
  () => expectFaultsHandled(200),
  LIMIT_MS,
);
