import { messageOf } from '@hopwise/contract';
export interface Refusal {
  ok: false;
  error: string;
}

/** Answers by type of request, each of which may be refused. */
export type OrRefusal<Answers> = { [T in keyof Answers]: Answers[T] | Refusal };

/**
 * Creates the function by which the extension's own pages send requests to the worker. A worker that the browser stops before it
 * answers counts as a refusal.
 */
export function createSender<Request extends { type: keyof Answers }, Answers>() {
  return async <T extends Request>(request: T): Promise<Answers[T['type']] | Refusal> => {
    try {
      return await chrome.runtime.sendMessage<T, Answers[T['type']] | Refusal>(request);
    } catch (error) {
      return { ok: false, error: messageOf(error) };
    }
  };
}
