import type { Prediction } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { headline } from './summary.ts';

/** Has screen readers announce a verdict once; what else changes on the page they read on demand. */
export function announceVerdict(
  prediction: Pick<Prediction, 'decision'> | null,
  pinGain: PinGain | null = null,
): void {
  const announcement = document.getElementById('announcement');
  const text = prediction ? headline(prediction, pinGain) : '';
  if (announcement && announcement.textContent !== text) announcement.textContent = text;
}
