import type { Prediction } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { writeHeadline } from './headline.ts';

/** Has screen readers announce a verdict once; what else changes on the page they read on demand. */
export function announceVerdict(prediction: Prediction | null, pinGain: PinGain | null = null): void {
  const announcement = document.getElementById('announcement');
  const text = prediction ? writeHeadline(prediction, pinGain) : '';
  if (announcement && announcement.textContent !== text) announcement.textContent = text;
}
