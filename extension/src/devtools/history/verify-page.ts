import type { Verification } from '@hopwise/contract';
import { t } from '../../language/translate.ts';
import { sendLoadRequest } from '../../messages/load-messages.ts';
import { getLoad } from '../../storage/loads.ts';

const POLL_MS = 1000;

/**
 * Verifies the newest load of a page, and waits for the result.
 *
 * @param signal stops the verification
 * @throws Error with a message to show
 */
export async function verifyPage(url: string, signal: AbortSignal): Promise<Verification> {
  const started = await sendLoadRequest({ type: 'verify', url });
  if (!started.ok) throw new Error(started.error);
  const loadId = started.state === 'none' ? null : started.loadId;
  const cancel = () => void sendLoadRequest({ type: 'cancel-verification' });
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const answer = await sendLoadRequest({ type: 'verification', url });
      if (!answer.ok) throw new Error(answer.error);
      // The answer is about the newest load, which may be another one by now.
      if (answer.state === 'none' || answer.loadId !== loadId) throw new Error(t('monitorLoadedAgain'));
      if (answer.state === 'failed') throw new Error(answer.message);
      if (answer.state === 'running') continue;
      const verification = (await getLoad(answer.loadId))?.verification;
      if (!verification) throw new Error(t('monitorLoadedAgain'));
      return verification;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
