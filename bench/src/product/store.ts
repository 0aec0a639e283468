/** The visits of a run in a folder: one line of JSON each, so that an interrupted run can continue. */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { autopilotRunSchema } from '../../../extension/src/autopilot/runs/autopilot-run.ts';
import { ARM_NAMES, BROWSER_NAMES } from './arms.ts';

const FILE = 'product.jsonl';

/** What the autopilot made of a page's loads, or of the network. */
const runSchema = z.object({
  id: z.string(),
  /** Whether it is of the page that was visited, or of all pages on the network. */
  scope: z.enum(['page', 'network']),
  trigger: autopilotRunSchema.shape.trigger,
  /** Kinds of its pins. */
  kinds: z.array(z.string()),
  /** Why it has ended; null while it is in force. */
  end: z.nullable(z.string()),
});

export type StoredRun = z.infer<typeof runSchema>;

const perKindSchema = z.object({
  browser: z.number(),
  pages: z.number(),
  extension: z.number(),
  helper: z.number(),
});

const visitSchema = z.object({
  /** Runs of earlier versions had Chromium alone, and did not name it. */
  browser: z.enum(BROWSER_NAMES).default('chromium'),
  network: z.string(),
  page: z.string(),
  /** From 1. */
  visit: z.int(),
  arm: z.enum(ARM_NAMES),
  /** Whether the browser had its HTTP cache. */
  usesCache: z.boolean().default(false),
  /** From navigationStart to the end of the load event. */
  pltMs: z.number(),
  /** What came over the network, as far as the top document shows it. */
  bytes: z.number(),
  /** Share of the top document's requests that used HTTP/3. */
  h3Share: z.number(),
  /** Processor time of the browser and what it started, by `PROCESS_KINDS`, from the navigation until the extension has done its work. */
  processorMs: perKindSchema,
  /** Memory after that, see `readMemory`; absent in runs of earlier versions. */
  memoryMb: z.optional(perKindSchema),
  /** Processor time of the following minute, in which no page was open; of the last visit on a network alone. */
  restMs: z.optional(perKindSchema),
  /** What other work on the machine did to it. */
  disturbedBy: z.array(z.string()),
  /** Runs of the autopilot in force after the visit, and those that ended since the one before; absent where they were not asked for. */
  runs: z.optional(z.array(runSchema)),
});

/** One visit of one arm. */
export type StoredVisit = z.infer<typeof visitSchema>;

export async function readVisits(dir: string): Promise<StoredVisit[]> {
  const text = await readFile(join(dir, FILE), 'utf8').catch(() => '');
  // The last line is cut off where the run was killed.
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => visitSchema.parse(JSON.parse(line)));
}

export function addVisits(dir: string, visits: readonly StoredVisit[]): Promise<void> {
  return appendFile(join(dir, FILE), visits.map((visit) => `${JSON.stringify(visit)}\n`).join(''));
}
