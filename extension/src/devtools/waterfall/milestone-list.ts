import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatDuration } from '../../ui/format.ts';
import { type Milestone, nameMilestone, SHORT_NAMES } from '../../ui/milestones.ts';

const el = builder();

/** A load that is compared with the shown one. */
interface ComparedLoad {
  milestones: readonly Milestone[];
  /** As in "in …". */
  name: string;
}

/**
 * The milestones of a load with their times, as a legend of their lines: `FCP 1.2 s → 0.9 s` with those of another load. Where one is
 * known of one load only, it has no other time.
 */
export function renderMilestones(
  milestones: readonly Milestone[],
  compared: ComparedLoad | null,
): HTMLElement {
  return el(
    'ul',
    { class: 'hw-legend hw-milestones', 'aria-label': t('milestonesLabel') },
    ...milestones.map((milestone) => renderMilestone(milestone, compared)),
  );
}

function renderMilestone({ kind, ms }: Milestone, compared: ComparedLoad | null): HTMLElement {
  const other = compared?.milestones.find((each) => each.kind === kind);
  const times = [formatDuration(ms), ...(other ? [formatDuration(other.ms)] : [])];
  const spoken = other
    ? t('milestoneCompared', { time: times[0]!, other: times[1]!, name: compared!.name })
    : times[0]!;
  return el(
    'li',
    { title: nameMilestone(kind) },
    el('span', { class: `hw-swatch hw-swatch-${kind}`, 'aria-hidden': 'true' }),
    el('span', { 'aria-hidden': 'true' }, `${SHORT_NAMES[kind]} ${times.join(' → ')}`),
    el('span', { class: 'hw-visually-hidden' }, `${nameMilestone(kind)}: ${spoken}`),
  );
}
