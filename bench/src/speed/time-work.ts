/**
 * Times one kind of work on a recording, from a new process on: prints the processor time of the first time, and the median of later
 * ones, milliseconds in user mode as JSON. Reads the recording from stdin.
 *
 * Arguments: the file of the emulator's library, `learn` or `predict`, how often to repeat it.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { median } from '@hopwise/contract';
import type { Recording } from '@hopwise/pageload-emulator';
import type { Work, WorkTimes } from './page-work.ts';

const [library, work, repetitions] = process.argv.slice(2) as [string, Work, string];
const { learnNetwork, predict }: typeof import('@hopwise/pageload-emulator') = await import(
  pathToFileURL(library).href
);
const recording = JSON.parse(readFileSync(0, 'utf8')) as Recording;

function timeOnce(): number {
  const before = process.cpuUsage();
  if (work === 'learn') learnNetwork(null, recording);
  else predict(recording);
  return process.cpuUsage(before).user / 1000;
}

const firstMs = timeOnce();
const laterMs = median(Array.from({ length: Number(repetitions) }, timeOnce));
console.log(JSON.stringify({ firstMs, laterMs } satisfies WorkTimes));
