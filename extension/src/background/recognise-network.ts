/** Keeps the key of the network that the browser is on: the helper is asked for it now and then. */
import { SerialQueue } from '@hopwise/contract';
import { loadFoundNetwork, removeFoundNetwork, saveFoundNetwork } from '../storage/network-key.ts';

/** A question may start the helper, which takes half a second of processor time. */
const ASK_AGAIN_MS = 10 * 60_000;
/** A router may become known with the load's own packets; what is then still unknown stays so. */
const ASK_UNKNOWN_AGAIN_MS = 30_000;
/** Without a helper, or with one that cannot answer. */
const ASK_IN_VAIN_AGAIN_MS = 60 * 60_000;

const questions = new SerialQueue();

/**
 * Asks the helper for the network's key when the last answer is too old. Never throws: without a helper no network is recognised.
 *
 * @returns whether the browser has left a network that was recognised
 */
export function recogniseNetwork(
  ask: () => Promise<string | null>,
  nowMs: () => number = Date.now,
): Promise<boolean> {
  return questions.run(async () => {
    const found = await loadFoundNetwork();
    if (found !== null && nowMs() < found.askAgainAtMs) return false;
    // Without an answer the browser may well be where it was.
    let key = found?.key ?? null;
    let waitMs = ASK_IN_VAIN_AGAIN_MS;
    const wasUnknown = found?.key === null;
    try {
      key = await ask();
      waitMs = key === null && !wasUnknown ? ASK_UNKNOWN_AGAIN_MS : ASK_AGAIN_MS;
    } catch {
      // The helper is not installed, or too old for this.
    }
    await saveFoundNetwork({ key, askAgainAtMs: nowMs() + waitMs });
    return found !== null && found.key !== null && found.key !== key;
  });
}

/** The network has changed: the helper is asked with the next load. */
export function forgetNetworkKey(): Promise<void> {
  return questions.run(removeFoundNetwork);
}
