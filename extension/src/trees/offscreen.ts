/**
 * The document that holds the trees in Chromium, where a service worker is stopped between events and would start WebAssembly anew each
 * time. It answers the worker alone and ignores content scripts, which can send messages as well.
 */
import { messageOf } from '@hopwise/contract';
import { type PredictionAnswer, predictionQuestionSchema } from './prediction-messages.ts';
import { TreeSession } from './tree-session.ts';

/** The worker closes the document sooner, unless it was stopped before. */
const CLOSE_AFTER_MS = 120_000;

const closeLater = () => setTimeout(() => window.close(), CLOSE_AFTER_MS);
let timer = closeLater();
const session = TreeSession.start();
// Each question is answered with the error.
session.catch(() => undefined);

chrome.runtime.onMessage.addListener(
  (message: unknown, sender: chrome.runtime.MessageSender, answer: (value: PredictionAnswer) => void) => {
    if (sender.id !== chrome.runtime.id || sender.tab !== undefined) return undefined;
    const question = predictionQuestionSchema.safeParse(message);
    if (!question.success) return undefined;
    clearTimeout(timer);
    timer = closeLater();
    const { row, transport } = question.data;
    session
      .then((trees) =>
        trees.predict(
          row.map((value) => value ?? Number.NaN),
          transport,
        ),
      )
      .then(
        (logRatio) => answer({ ok: true, logRatio }),
        (error) => answer({ ok: false, error: messageOf(error) }),
      );
    return true;
  },
);
