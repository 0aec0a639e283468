import { it } from 'vitest';
import { expectFaultsHandled } from './judged-faults.ts';

it('ends 60 random faults in mid-transfer with the right bytes or the browser’s own error', () =>
  expectFaultsHandled(60));
