import { isUnavailable, type RepeatedSpread } from '@hopwise/extension/report';
import type { LoadProtocol } from '@hopwise/lab/ground-truth/ground-truth';
import {
  type Assignment,
  type Decision,
  type MeasuredLoads,
  measuredBy,
  PROTOCOLS,
  type Prediction,
  predict,
  type Recording,
  type Unavailable,
  type Verification,
} from '@hopwise/pageload-emulator';

/**
 * Decides again with the measured loads of the page among the evidence.
 *
 * @param assignment under which the `assigned` loads were made; null without any
 */
export function decideAfter(
  {
    recording,
    verification,
    prediction,
  }: { recording: Recording; verification: Verification | null; prediction: Prediction },
  measured: Partial<Record<LoadProtocol, RepeatedSpread | Unavailable>>,
  assignment: Assignment | null,
): Decision {
  const origins = Object.keys(prediction.decision.action.assignment);
  const all = (protocol: Assignment[string]): Assignment =>
    Object.fromEntries(origins.map((origin) => [origin, protocol]));
  const under: [LoadProtocol, MeasuredLoads['under']][] = [
    ['natural', 'browser'],
    ...PROTOCOLS.map((protocol): [LoadProtocol, Assignment] => [protocol, all(protocol)]),
    ...(assignment === null ? [] : [['assigned', assignment] as [LoadProtocol, Assignment]]),
  ];
  const loads = under.flatMap(([protocol, held]): MeasuredLoads[] => {
    const result = measured[protocol];
    if (result === undefined || isUnavailable(result) || !result.loadsMs) return [];
    return [{ under: held, pltMs: result.loadsMs, ageMs: 0 }];
  });
  return predict(recording, {
    thorough: true,
    ...(verification && { measured: measuredBy(verification) }),
    // The recorded load bore the detailed recording, which the measured ones do not.
    knowledge: { loads, isRecordedComparable: false, ...(verification && { verification }) },
  }).decision;
}
