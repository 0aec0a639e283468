import { expect, it } from 'vitest';
import { observeProcess, type ThreadTimes } from '../../src/engine/process-activity.ts';

const PID = 1234;
const TICK_MS = 500;

/** What is observed of a thread in this state that gets so much processor time in a tick. */
function observe(state: string, ranMs: number) {
  let nowMs = 0;
  let times: ThreadTimes | null = { state, processorMs: 70 };
  const observed = observeProcess(
    PID,
    (pid) => (pid === PID ? times : null),
    () => nowMs,
  );
  const activities = [1, 2].map(() => {
    nowMs += TICK_MS;
    times = { state, processorMs: times!.processorMs + ranMs };
    return observed();
  });
  expect(activities[0]).toBe(activities[1]);
  return activities[0];
}

it.each([
  ['stopped', 'T', 0, 'able'],
  ['waiting for something that does not come', 'S', 0, 'able'],
  ['running all the time', 'R', TICK_MS, 'able'],
  ['ready to run but given a tenth of the time', 'R', TICK_MS / 10, 'starved'],
  ['waiting for the disk', 'D', 0, 'starved'],
  ['stopped by a debugger', 't', 0, 'debugged'],
])('a process that is %s', (_what, state, ranMs, activity) => {
  expect(observe(state, ranMs)).toBe(activity);
});

it('without procfs a process counts as starved', () => {
  expect(observeProcess(PID, () => null)()).toBe('starved');
});

it.runIf(process.platform === 'linux')('reads this process', () => {
  const observed = observeProcess(process.pid);
  const endMs = performance.now() + 200;
  while (performance.now() < endMs);
  expect(['able', 'starved']).toContain(observed());
});
