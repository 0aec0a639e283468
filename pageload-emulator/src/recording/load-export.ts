import type { Recording, Verification } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';
import { objectOf } from './har/values.ts';
import { isOwnRecording, readOwnRecording } from './own-recording.ts';
import { readVerification } from './verification-file.ts';

/**
 * Reads what "Export JSON" of the extension saves: a recording and the verification of its load, where there was one. Predictions in
 * it are left out.
 *
 * @param load for which `isLoadExport` holds
 * @returns with how many requests were neither `http:` nor `https:` and are left out
 * @throws InputError naming the place of the first thing that cannot be used
 */
export function readLoadExport(load: unknown): {
  recording: Recording;
  verification: Verification | null;
  otherSchemes: number;
} {
  const { recording, verification } = objectOf(load)!;
  if (!isOwnRecording(recording)) {
    throw new InputError(`recording: expected a hopwise recording, got ${shown(recording)}`);
  }
  return {
    ...readOwnRecording(recording, ['recording']),
    verification: verification == null ? null : readVerification(verification, ['verification']),
  };
}
