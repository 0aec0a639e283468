/** Chooses the assignment of protocols to origins that is measured for a page on a network. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { firstLine } from '@hopwise/contract';
import {
  type Assignment,
  type Prediction,
  type Protocol,
  predict,
  type Recording,
} from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { UserError } from '../command/errors.ts';
import type { GroundTruthLoad } from '../ground-truth/ground-truth.ts';
import type { Site } from '../sites/site.ts';

const fileSchema = z.record(
  z.string(),
  z.record(z.string(), z.record(z.string(), z.enum(['h1', 'h2', 'h3']))),
);

export type AssignmentFile = z.infer<typeof fileSchema>;

/** @throws UserError naming the file and the entry */
export async function readAssignments(file: string): Promise<AssignmentFile> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UserError(`--assignments ${file}: ${firstLine(error)}`, 2);
  }
  const parsed = fileSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UserError(
    `--assignments ${file}: ${issue?.path.join(', ') || 'top level'}: ${issue?.message}`,
    2,
  );
}

/**
 * One assignment for each cell: the file's, else the one that earlier loads of the cell used, else hopwise's choice from the
 * cell's first natural load.
 */
export class Assignments {
  readonly #file: AssignmentFile | null;
  readonly #used = new Map<string, Assignment>();
  readonly #recorded = new Map<string, { recording: Recording; disturbed: boolean }>();

  constructor(file: AssignmentFile | null) {
    this.#file = file;
  }

  /** To be called with every load, in the order they were made. */
  add(load: GroundTruthLoad): void {
    const cell = cellKey(load.page, load.network);
    if (load.protocol === 'assigned' && load.assignment && !this.#used.has(cell)) {
      this.#used.set(cell, load.assignment);
    }
    if (load.protocol !== 'natural' || load.view !== 'cold' || !load.outcome.ok) return;
    const known = this.#recorded.get(cell);
    // A disturbed load is used where there is no other.
    if (!known || (known.disturbed && !load.disturbed)) {
      this.#recorded.set(cell, { recording: load.outcome.recording, disturbed: load.disturbed });
    }
  }

  /**
   * @returns null while there is no natural load to derive one from
   * @throws UserError when the file has none that covers the page, or one that differs from earlier loads
   */
  of(page: string, network: string, site: Site): Assignment | null {
    const cell = cellKey(page, network);
    const used = this.#used.get(cell);
    const assignment =
      this.#file === null ? (used ?? this.#predicted(cell, site)) : this.#given(page, network, site);
    if (assignment === null) return null;
    if (used !== undefined && !isDeepStrictEqual(used, assignment)) {
      throw new UserError(
        `--assignments: ${page}, ${network}: the folder has loads under another assignment: use another folder`,
        2,
      );
    }
    this.#used.set(cell, assignment);
    return assignment;
  }

  #given(page: string, network: string, site: Site): Assignment {
    const given = this.#file?.[page]?.[network];
    if (!given) throw new UserError(`--assignments: expected one for page ${page}, network ${network}`, 2);
    for (const { origin, protocols } of site.origins) {
      const protocol = given[origin];
      if (protocol === undefined || !protocols.includes(protocol)) {
        throw new UserError(
          `--assignments: ${page}, ${network}, ${origin}: expected ${protocols.join(' or ')}, got ${protocol ?? 'nothing'}`,
          2,
        );
      }
    }
    return given;
  }

  #predicted(cell: string, site: Site): Assignment | null {
    const known = this.#recorded.get(cell);
    if (!known) return null;
    return assignmentOfSite(predict(known.recording), site);
  }
}

/** Completes a predicted assignment with the site's other origins, which got no request before the load event. */
export function assignmentOfSite(
  { assignment, best }: Pick<Prediction, 'assignment' | 'best'>,
  site: Pick<Site, 'origins'>,
): Assignment {
  return Object.fromEntries(
    site.origins.map(({ origin, protocols }) => [
      origin,
      assignment[origin] ?? (protocols.includes(best) ? best : (protocols[0] as Protocol)),
    ]),
  );
}

const cellKey = (page: string, network: string): string => JSON.stringify([page, network]);
