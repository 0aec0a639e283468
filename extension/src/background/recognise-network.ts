/** Keeps the key of the network that the browser is on: the helper is asked for it now and then. */
import { SerialQueue } from '@hopwise/contract';
import { loadFoundNetwork, removeFoundNetwork, saveFoundNetwork } from '../storage/network-key.ts';

/** A question starts the helper, which takes half a second of processor time, unless it runs in any case. */
const ASK_AGAIN_MS = 60 * 60_000;
const ASK_RUNNING_AGAIN_MS = 10 * 60_000;
/** After a pause without a load the machine may be elsewhere; who stays for the next page rarely is. */
const PAUSE_MS = 10 * 60_000;
/** How exactly it is kept when the last page was loaded. */
const USED_WITHIN_MS = 60_000;
/** A router may become known with the load's own packets; what is then still unknown stays so. */
const ASK_UNKNOWN_AGAIN_MS = 30_000;
/** Without a helper, or with one that cannot answer. */
const ASK_IN_VAIN_AGAIN_MS = 60 * 60_000;

const questions = new SerialQueue();

/**
 * Asks the helper for the network's key when the last answer is too old, or may not hold any more. Never throws: without a helper no
 * network is recognised.
 *
 * @param isRunning whether the helper runs in any case
 * @returns whether the browser has left a network that was recognised
 */
export function recogniseNetwork(
  ask: () => Promise<string | null>,
  isRunning: boolean,
  nowMs: () => number = Date.now,
): Promise<boolean> {
  return questions.run(async () => {
    const found = await loadFoundNetwork();
    const pauseMs = found === null ? 0 : nowMs() - found.usedAtMs;
    const isPause = found?.key != null && pauseMs >= PAUSE_MS;
    // When to ask again is then of no use either.
    const wasSetBack = pauseMs < -USED_WITHIN_MS;
    if (found !== null && nowMs() < found.askAgainAtMs && !isPause && !wasSetBack) {
      if (pauseMs >= USED_WITHIN_MS) await saveFoundNetwork({ ...found, usedAtMs: nowMs() });
      return false;
    }
    // Without an answer the browser may well be where it was.
    let key = found?.key ?? null;
    let waitMs = ASK_IN_VAIN_AGAIN_MS;
    const wasUnknown = found?.key === null;
    try {
      key = await ask();
      const againMs = isRunning ? ASK_RUNNING_AGAIN_MS : ASK_AGAIN_MS;
      waitMs = key === null && !wasUnknown ? ASK_UNKNOWN_AGAIN_MS : againMs;
    } catch {
      // The helper is not installed, or too old for this.
    }
    await saveFoundNetwork({ key, askAgainAtMs: nowMs() + waitMs, usedAtMs: nowMs() });
    return found !== null && found.key !== null && found.key !== key;
  });
}

/** A load was not like those on the network before: the helper is asked with the next one whether it is the same network. */
export function doubtNetworkKey(): Promise<void> {
  return questions.run(async () => {
    const found = await loadFoundNetwork();
    if (found?.key != null) await saveFoundNetwork({ ...found, askAgainAtMs: 0 });
  });
}

/** The network has changed: the helper is asked with the next load. */
export function forgetNetworkKey(): Promise<void> {
  return questions.run(removeFoundNetwork);
}
