import { expect, test, vi } from 'vitest';
import { askForNetworkKey } from '../../src/helper/ask-helper.ts';
import { HelperConnection } from '../../src/helper/helper-connection.ts';

const KEY = 'k'.repeat(22);

/** A helper that runs, and answers what it is asked by `answer`. */
function runHelper(answer: (request: { id: string }) => object | null) {
  let receive: (message: unknown) => void = () => {};
  const disconnect = vi.fn();
  const running = new HelperConnection({}, () => ({
    postMessage(message) {
      const answered = answer(message as { id: string });
      if (answered) queueMicrotask(() => receive(answered));
    },
    disconnect,
    onMessage: {
      addListener: (listener) => {
        receive = listener;
      },
    },
    onDisconnect: { addListener: () => {} },
  }));
  return { running, disconnect };
}

test('a helper that runs is asked for the network', async () => {
  const { running, disconnect } = runHelper(({ id }) => ({ type: 'network', id, key: KEY }));
  expect(await askForNetworkKey(running)).toBe(KEY);
  expect(disconnect).not.toHaveBeenCalled();
});

test('a helper that runs and does not name the network runs on', async () => {
  vi.useFakeTimers();
  try {
    const { running, disconnect } = runHelper(() => null);
    const asked = expect(askForNetworkKey(running)).rejects.toThrow('did not name the network');
    await vi.advanceTimersByTimeAsync(3000);
    await asked;
    expect(disconnect).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
