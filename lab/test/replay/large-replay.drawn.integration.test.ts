import { it } from 'vitest';
import { expectFaithfulReplay } from '../support/large-replay.ts';

it('a HAR of 120 requests on 60 origins is replayed in the lab under every protocol', () =>
  expectFaithfulReplay(120, 60));
