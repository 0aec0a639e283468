import { messageOf } from '@hopwise/contract';
import { type LatestAnswer, sendLoadRequest, type WhichLoad } from '../messages/load-messages.ts';

const POLL_INTERVAL_MS = 1000;

/**
 * Polls the load of a tab while the page is visible. Calls `show` with it now and whenever it changes.
 *
 * @param fail called once for each reason why the worker gave no answer
 */
export function pollLoad(
  which: WhichLoad,
  show: (answer: LatestAnswer) => void,
  fail: (problem: string) => void,
): { refresh: () => void } {
  let shown = '';
  let refreshes = 0;
  let polling = false;
  const poll = async () => {
    const brief = await sendLoadRequest({ type: 'latest', ...which, brief: true });
    if (!brief.ok) throw new Error(brief.error);
    const now = `${refreshes} ${brief.phase} ${brief.loadId} ${brief.problem} ${JSON.stringify(brief.incomplete)}`;
    if (now === shown) return;
    const answer = await sendLoadRequest({ type: 'latest', ...which });
    if (!answer.ok) throw new Error(answer.error);
    shown = now;
    show(answer);
  };
  const pollOnce = async () => {
    // A prediction may take longer than the polling interval.
    if (document.hidden || polling) return;
    polling = true;
    try {
      await poll();
    } catch (error) {
      const problem = messageOf(error);
      if (shown !== problem) fail(problem);
      shown = problem;
    } finally {
      polling = false;
    }
  };
  void pollOnce();
  setInterval(() => void pollOnce(), POLL_INTERVAL_MS);
  return {
    refresh: () => {
      refreshes += 1;
      void pollOnce();
    },
  };
}
