import { type ToExtension, type ToHost, type Verification, verificationSchema } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { HelperConnection } from './helper-connection.ts';
import { createProtocolError, HelperError, type NativePort } from './helper-port.ts';

type Probe = Omit<Extract<ToHost, { type: 'probe' }>, 'type' | 'id'>;
type Progress = Extract<ToExtension, { type: 'probe-progress' }>;

/** Limits of a result: characters of all parts together, and number of parts. */
const MAX_RESULT_CHARS = 64 * 1024 * 1024;
const MAX_PARTS = 1024;
/** Rounds report their progress even on a slow link, so a helper that is silent for this long has failed. */
const SILENCE_LIMIT_MS = 120_000;

/**
 * Transfers the page's resources under each protocol, by a helper of its own that runs only for that time.
 *
 * @throws HelperError when the helper is not installed, refuses, stops, or breaks the message contract
 */
export async function verifyWithHelper(
  probe: Probe,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
  connect?: () => NativePort,
): Promise<Verification> {
  const helper = new HelperConnection({}, connect);
  const cancel = () => helper.close(new HelperError('cancelled', () => t('verifyCancelled')));
  signal.addEventListener('abort', cancel);
  try {
    const { engine, problem } = await helper.greet();
    if (engine === '') {
      throw new HelperError('no-engine', () =>
        problem ? t('helperReports', { message: problem }) : t('helperNoEngine'),
      );
    }
    const parts = new PartsJoiner();
    return await helper.request({ type: 'probe', ...probe }, SILENCE_LIMIT_MS, (message) => {
      if (message.type === 'probe-progress') onProgress(message);
      const text = message.type === 'probe-result' ? parts.add(message) : null;
      return text === null ? undefined : readVerification(text, probe.plan.pageUrl);
    });
  } finally {
    signal.removeEventListener('abort', cancel);
    helper.close();
  }
}

/** Joins the parts of a result, which must arrive in order. */
export class PartsJoiner {
  #texts: string[] = [];
  #length = 0;
  #parts = 0;

  /**
   * @returns the whole text after the last part, null before
   * @throws HelperError on parts out of order, too many or too long
   */
  add({ part, parts, json }: { part: number; parts: number; json: string }): string | null {
    if (this.#texts.length === 0) this.#parts = parts;
    const fits = part === this.#texts.length && parts === this.#parts && part < parts && parts <= MAX_PARTS;
    const expected = this.#texts.length;
    if (!fits) throw createProtocolError(() => t('helperSentPart', { part, parts, expected }));
    this.#length += json.length;
    if (this.#length > MAX_RESULT_CHARS) throw createProtocolError(() => t('helperSentTooMuch'));
    this.#texts.push(json);
    return this.#texts.length === parts ? this.#texts.join('') : null;
  }
}

function readVerification(text: string, pageUrl: string): Verification {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createProtocolError(() => t('helperSentNoJson'));
  }
  const parsed = verificationSchema.safeParse(value);
  if (!parsed.success) {
    const place = parsed.error.issues[0]?.path.join('.') ?? '';
    throw createProtocolError(() =>
      place === '' ? t('helperSentNoJson') : t('helperSentInvalid', { place }),
    );
  }
  if (parsed.data.pageUrl !== pageUrl) throw createProtocolError(() => t('helperSentOther'));
  return parsed.data;
}
