import { describe, test } from 'vitest';
import { labObstacle } from '../../../lab/src/client/lab.ts';
import { expectIndependentLosses } from './pcwnd-losses.ts';

const obstacle = await labObstacle();

describe.skipIf(obstacle)('p(cwnd) at real senders', () => {
  test('with independent losses a round loses with 1 − (1 − p)^cwnd, by tcp_probe', () =>
    expectIndependentLosses('tcp_probe'));
});
