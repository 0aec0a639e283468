import { messageOf } from '@hopwise/contract';
export interface Refusal {
  ok: false;
  error: string;
}

/** Answers by type of request, each of which may be refused. */
export type OrRefusal<Answers> = { [T in keyof Answers]: Answers[T] | Refusal };

/** What browsers say where no listener received a message. */
const NOT_RECEIVED = 'Receiving end does not exist';
/** A worker that the browser is just stopping is started again for the next message. */
const MAX_RESENDS = 3;
const RESEND_AFTER_MS = 200;

/**
 * Creates the function by which the extension's own pages send requests to the worker. A request that no worker received is sent
 * again; a worker that the browser stops before it answers counts as a refusal.
 *
 * @param sentOnce types of requests that must not be carried out twice: Firefox says that no worker received a request also where the one that did
 * was stopped before it answered
 */
export function createSender<Request extends { type: keyof Answers }, Answers>(
  sentOnce: readonly Request['type'][] = [],
) {
  return async <T extends Request>(request: T): Promise<Answers[T['type']] | Refusal> => {
    for (let resends = 0; ; resends++) {
      try {
        return await chrome.runtime.sendMessage<T, Answers[T['type']] | Refusal>(request);
      } catch (error) {
        const message = messageOf(error);
        const mayResend = resends < MAX_RESENDS && !sentOnce.includes(request.type);
        if (!message.includes(NOT_RECEIVED) || !mayResend) return { ok: false, error: message };
        await new Promise((resolve) => setTimeout(resolve, RESEND_AFTER_MS));
      }
    }
  };
}
