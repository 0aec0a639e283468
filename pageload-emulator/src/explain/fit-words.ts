import type { Fit } from '@hopwise/contract';
import type { FitFigures, Misfit } from '../decide/fit.ts';
import type { Sentences } from './sentences/english.ts';

/** Adds the sentences to how well the recorded load is explained. */
export function describeFit(
  { recordedMs, explained, isPolicerAdded, misfits }: FitFigures,
  { fit }: Sentences,
): Fit {
  // The emulation is then of another network than the recorded one, and is not expected to take as long.
  const summary =
    recordedMs === null || explained === null || isPolicerAdded
      ? ''
      : fit.explains(explained.pltMs, recordedMs);
  return {
    recordedMs,
    explainedMs: explained?.pltMs ?? null,
    explainedRange: explained === null ? null : { low: explained.low, high: explained.high },
    understood: misfits.length === 0,
    reason: misfits[0] === undefined ? '' : reasonOf(misfits[0], summary, fit),
    summary,
    notes: misfits.map((misfit) => toSentence(noteOf(misfit, fit))),
  };
}

function reasonOf(misfit: Misfit, summary: string, fit: Sentences['fit']): string {
  return misfit.kind === 'load-time' ? summary : toSentence(describeMisfit(misfit, fit));
}

/** What the summary before it does not say. */
function noteOf(misfit: Misfit, fit: Sentences['fit']): string {
  if (misfit.kind !== 'load-time') return describeMisfit(misfit, fit);
  const restMs = misfit.recordedMs - misfit.explainedMs;
  return restMs > 0 ? fit.unexplained(restMs) : fit.tooLong(-restMs);
}

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Says what is not understood, for a headline. */
export function describeMisfit(misfit: Misfit, fit: Sentences['fit']): string {
  switch (misfit.kind) {
    case 'no-navigation':
      return fit.noNavigation();
    case 'protocol-failed':
      return fit.protocolFailed(misfit.requests, misfit.protocol);
    case 'network-changed':
      return fit.networkChanged();
    case 'all-cached':
      return fit.allCached();
    case 'no-answer':
      return fit.noAnswer();
    case 'no-page':
      return fit.noPage();
    case 'no-load-event':
      return fit.noLoadEvent();
    case 'session':
      return fit.session(misfit.recordedMs);
    case 'load-time':
      return fit.loadTime(misfit.recordedMs, misfit.explainedMs);
    case 'round-trip':
      return fit.roundTrip(misfit.rttMs);
    case 'no-round-trip':
      return fit.noRoundTrip();
  }
}
