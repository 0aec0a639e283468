import type { RoundTransfer } from '../../src/rounds/round.ts';

/** A transfer of a round that waits for no other, except for `more`. */
export const roundTransfer = (
  needed: Pick<RoundTransfer, 'url' | 'host' | 'protocol'>,
  more: Partial<RoundTransfer> = {},
): RoundTransfer => ({
  after: [],
  delayMs: 0,
  urgency: 3,
  incremental: false,
  accept: '*/*',
  connectTo: '',
  onceOffered: null,
  headersOnly: false,
  maxBytes: null,
  refused: '',
  ...needed,
  ...more,
});
