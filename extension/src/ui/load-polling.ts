import { ask, type LatestAnswer, type WhichLoad } from '../messages/page-messages.ts';

const LOOK_EVERY_MS = 1000;

/**
 * Calls `show` with the load of a tab now and whenever it changes, while the page is visible.
 *
 * @param fail told once of each reason why the worker has no answer
 */
export function watchLoad(
  which: WhichLoad,
  show: (answer: LatestAnswer) => void,
  fail: (problem: string) => void,
): { refresh: () => void } {
  let shown = '';
  let turn = 0;
  let looking = false;
  const look = async () => {
    const brief = await ask({ type: 'latest', ...which, brief: true });
    if (!brief.ok) throw new Error(brief.error);
    const now = `${turn} ${brief.phase} ${brief.loadId} ${brief.problem}`;
    if (now === shown) return;
    const answer = await ask({ type: 'latest', ...which });
    if (!answer.ok) throw new Error(answer.error);
    shown = now;
    show(answer);
  };
  const lookOnce = async () => {
    // A prediction may take longer than the time between two looks.
    if (document.hidden || looking) return;
    looking = true;
    try {
      await look();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (shown !== problem) fail(problem);
      shown = problem;
    } finally {
      looking = false;
    }
  };
  void lookOnce();
  setInterval(() => void lookOnce(), LOOK_EVERY_MS);
  return {
    refresh: () => {
      turn += 1;
      void lookOnce();
    },
  };
}
