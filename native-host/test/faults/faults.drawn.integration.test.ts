import { it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { expectFaultsHandled } from './judged-faults.ts';

it('ends random faults in mid-transfer with the right bytes or the browser’s own error', () =>
  expectFaultsHandled(countRuns(20, 60)));
