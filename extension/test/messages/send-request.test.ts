import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSender } from '../../src/messages/send-request.ts';

const sendMessage = vi.fn<(message: unknown) => Promise<unknown>>();
const send = createSender<{ type: 'question' }, { question: { ok: true } }>();
const notReceived = new Error('Could not establish connection. Receiving end does not exist.');

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('chrome', { runtime: { sendMessage } });
});

afterEach(() => {
  sendMessage.mockReset();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function ask() {
  const answer = send({ type: 'question' });
  await vi.runAllTimersAsync();
  return answer;
}

test('a request that no worker received is sent again', async () => {
  sendMessage.mockRejectedValueOnce(notReceived).mockRejectedValueOnce(notReceived);
  sendMessage.mockResolvedValueOnce({ ok: true });
  expect(await ask()).toEqual({ ok: true });
  expect(sendMessage).toHaveBeenCalledTimes(3);
});

test('where none ever does, the browser’s message is the refusal', async () => {
  sendMessage.mockRejectedValue(notReceived);
  expect(await ask()).toEqual({ ok: false, error: notReceived.message });
  expect(sendMessage.mock.calls.length).toBeGreaterThan(1);
});

test('a request that must not be carried out twice is sent once', async () => {
  sendMessage.mockRejectedValue(notReceived);
  const sendOnce = createSender<{ type: 'question' }, { question: { ok: true } }>(['question']);
  const answer = sendOnce({ type: 'question' });
  await vi.runAllTimersAsync();
  expect(await answer).toEqual({ ok: false, error: notReceived.message });
  expect(sendMessage).toHaveBeenCalledTimes(1);
});

test('a request that a worker may have carried out is sent once', async () => {
  sendMessage.mockRejectedValue(new Error('The message port closed before a response was received.'));
  expect(await ask()).toMatchObject({ ok: false });
  expect(sendMessage).toHaveBeenCalledTimes(1);
});
