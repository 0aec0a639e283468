import type { PinGain } from '../../evidence/pin-outcomes.ts';
import { t } from '../../language/translate.ts';
import type { LoadExport } from '../../messages/load-messages.ts';
import { buildReport, renderHtml } from '../../report/index.ts';
import { predictionOf } from '../../storage/loads.ts';

/**
 * A load as the HTML report that `npm start` writes, in the language of the panel.
 *
 * @param pinGain what the load's pins gained; null for none
 * @throws Error with a message to show when the load has no prediction
 */
export async function writeReport(load: LoadExport, pinGain: PinGain | null): Promise<string> {
  const prediction = predictionOf(load);
  if (!prediction) throw new Error(t('reportNeedsPrediction', { problem: load.problem }));
  const report = buildReport({
    mode: 'live',
    pageName: '',
    networkAsSet: null,
    recording: load.recording,
    predictionFromRecording: load.prediction ?? prediction,
    prediction,
    predictionGivenNetwork: null,
    verification: load.verification,
    pinGain,
    measured: null,
    decision: prediction.decision,
    naturalProtocols: null,
    warnings: load.verification?.stopped ? [t('timesStopped', { why: load.verification.stopped })] : [],
    elapsedMs: null,
  });
  const [script, style] = await Promise.all(['report-client.js', 'report-client.css'].map(readOwnFile));
  return renderHtml(report, { script: script!, style: style! });
}

/** A file of the extension. */
async function readOwnFile(name: string): Promise<string> {
  return (await fetch(chrome.runtime.getURL(name))).text();
}
