/** What hopwise answers from the loads that a run kept, beside what the arms of the same visit took. */
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { parseRecording, predict } from '@hopwise/pageload-emulator';
import { readKeptLoad, type VisitKey } from './kept-loads.ts';
import type { StoredVisit } from './store.ts';

/** The answer to one kept load, of which nothing else is known. */
export interface Answer extends VisitKey {
  /** What the load itself took, milliseconds. */
  recordedMs: number;
  /** What its emulation expects of it, milliseconds; null without a load event. */
  explainedMs: number | null;
  /** `Fit.understood` */
  understood: boolean;
  /** Each protocol for all origins that was measured at the same visit, with the same losses; milliseconds. */
  protocols: { protocol: Protocol; expectedMs: number; measuredMs: number }[];
  /** `Decision.verdict` */
  verdict: string;
}

/**
 * Answers each load that was kept in the folder of a run.
 *
 * @param visits all of the run
 * @throws InputError for a load that `hopwise predict` refuses
 */
export async function judgeAnswers(dir: string, visits: readonly StoredVisit[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const visit of visits) {
    const text = await readKeptLoad(dir, visit);
    if (text !== null) answers.push(answerLoad(text, visit, visits));
  }
  return answers;
}

function answerLoad(text: string, own: StoredVisit, visits: readonly StoredVisit[]): Answer {
  const { browser, network, page, visit, arm, pltMs } = own;
  const { fit, decision } = predict(parseRecording(text));
  const measured = new Map(
    visits
      .filter(
        (each) =>
          each.browser === browser && each.network === network && each.page === page && each.visit === visit,
      )
      .map((each) => [each.arm, each.pltMs]),
  );
  return {
    browser,
    network,
    page,
    visit,
    arm,
    recordedMs: fit.recordedMs ?? pltMs,
    explainedMs: fit.explainedMs,
    understood: fit.understood,
    protocols: PROTOCOLS.flatMap((protocol) => {
      const expectedMs = decision.protocols[protocol]?.pltMs;
      const measuredMs = measured.get(protocol);
      return expectedMs === undefined || measuredMs === undefined
        ? []
        : [{ protocol, expectedMs, measuredMs }];
    }),
    verdict: decision.verdict,
  };
}
