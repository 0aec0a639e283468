import { it } from 'vitest';
import { expectCheapTunnels } from './support/many-tunnels.ts';

it('5,000 open tunnels cost little and all work', () => expectCheapTunnels(5_000));
