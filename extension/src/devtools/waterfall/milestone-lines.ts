import { builder } from '../../ui/dom.ts';
import { type Milestone, SHORT_NAMES } from '../../ui/milestones.ts';
import { placeBar, type TimeRange } from './rows.ts';

const el = builder();

/** Width of a character of a label, and of a label's edges, CSS pixels. */
const CHARACTER_PX = 7;
const EDGES_PX = 8;

/** Names of milestones beside their lines. */
export interface MilestoneLabel {
  text: string;
  /** From the beginning of the axis, CSS pixels. */
  leftPx: number;
}

/** Lines at the milestones that are within a range of time. */
export function renderLines(
  milestones: readonly Milestone[],
  range: TimeRange,
  isCompared = false,
): HTMLElement[] {
  return milestones.flatMap(({ kind, ms }) => {
    const place = placeBar({ startMs: ms, endMs: ms }, range);
    if (!place) return [];
    const line = el('div', { class: `hw-line hw-line-${kind}${isCompared ? ' hw-line-compared' : ''}` });
    line.style.left = `${place.left}%`;
    return line;
  });
}

/**
 * Names for the lines within a range. Lines that are closer to each other than a name is wide share one label, such as "DCL FCP". A label that
 * would be cut off at the end of the axis stands to the left of its line. One that is wider than the axis is left out: the list below the rows has all names.
 *
 * @param widthPx of the axis, CSS pixels
 */
export function labelMilestones(
  milestones: readonly Milestone[],
  range: TimeRange,
  widthPx: number,
): MilestoneLabel[] {
  const labels: MilestoneLabel[] = [];
  const textWidth = (text: string) => text.length * CHARACTER_PX + EDGES_PX;
  const fit = (text: string, leftPx: number) => ({
    text,
    leftPx: Math.max(0, Math.min(leftPx, widthPx - textWidth(text))),
  });
  for (const { kind, ms } of milestones.toSorted((a, b) => a.ms - b.ms)) {
    const place = placeBar({ startMs: ms, endMs: ms }, range);
    if (!place) continue;
    let label = fit(SHORT_NAMES[kind], Math.round((place.left / 100) * widthPx));
    for (
      let last = labels.at(-1);
      last && label.leftPx < last.leftPx + textWidth(last.text);
      last = labels.at(-1)
    ) {
      labels.pop();
      label = fit(`${last.text} ${label.text}`, last.leftPx);
    }
    labels.push(label);
  }
  return labels.filter(({ text }) => textWidth(text) <= widthPx);
}
