import { ask, type LatestAnswer, type WhichLoad } from '../messages/page-messages.ts';

const LOOK_EVERY_MS = 1000;

/** Calls `show` with the load of a tab now and whenever it changes, while the page is visible. */
export function watchLoad(which: WhichLoad, show: (answer: LatestAnswer) => void): { refresh: () => void } {
  let shown = '';
  const look = async () => {
    if (document.hidden) return;
    const brief = await ask({ type: 'latest', ...which, brief: true });
    if (!brief.ok) throw new Error(brief.error);
    const now = `${brief.phase} ${brief.loadId} ${brief.problem}`;
    if (now === shown) return;
    const answer = await ask({ type: 'latest', ...which });
    if (!answer.ok) throw new Error(answer.error);
    shown = now;
    show(answer);
  };
  void look();
  setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    refresh: () => {
      shown = '';
      void look();
    },
  };
}
