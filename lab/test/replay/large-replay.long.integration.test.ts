import { it } from 'vitest';
import { expectFaithfulReplay } from '../support/large-replay.ts';

it(
  'a HAR of 1200 requests on 290 origins is replayed in the lab under every protocol',
  () => expectFaithfulReplay(1200, 290),
  300_000,
);
