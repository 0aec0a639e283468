import { it } from 'vitest';
import { expectFaithfulReplay } from './large-replay.ts';

it('a HAR of 400 requests on 290 origins is replayed in the lab under every protocol', () =>
  expectFaithfulReplay(400, 290));
