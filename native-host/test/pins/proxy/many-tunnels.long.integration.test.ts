import { it } from 'vitest';
import { expectCheapTunnels } from './support/many-tunnels.ts';

it('10,000 open tunnels cost little and all work', () => expectCheapTunnels(10_000));
