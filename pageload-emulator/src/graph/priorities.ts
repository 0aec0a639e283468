import type { RecordedRequest, ResourceType } from '@hopwise/contract';

/** RFC 9218: urgency from 0, the highest, to 7. */
interface Priority {
  urgency: number;
  incremental: boolean;
}

/**
 * Chromium's default `Priority` (RFC 9218) by resource type: its net priorities become urgencies from 0 for the highest
 * (`net/quic`, `net/spdy`); types that are useful only when complete are not incremental (Blink's `ResourceFetcher`).
 */
const DEFAULT: Record<ResourceType, Priority> = {
  document: { urgency: 0, incremental: true },
  iframe: { urgency: 0, incremental: true },
  style: { urgency: 0, incremental: false },
  script: { urgency: 1, incremental: false },
  font: { urgency: 0, incremental: false },
  fetch: { urgency: 1, incremental: true },
  image: { urgency: 3, incremental: true },
  media: { urgency: 3, incremental: true },
  beacon: { urgency: 4, incremental: true },
  other: { urgency: 3, incremental: true },
};

/** Urgency of scripts that do not block rendering: `async`, `defer`, and those that scripts insert. */
const LATE_SCRIPT_URGENCY = 3;

/** Chromium's `Priority` for a type of resource. @param isLate whether it is a script that does not block rendering */
export function defaultPriority(type: ResourceType, isLate: boolean): Priority {
  const { urgency, incremental } = DEFAULT[type];
  return { urgency: type === 'script' && isLate ? LATE_SCRIPT_URGENCY : urgency, incremental };
}

/** The priority that the recorder states for a request, else Chromium's default for its type. */
export function priorityOf({ type, renderBlocking, urgency }: RecordedRequest): Priority {
  const priority = defaultPriority(type, renderBlocking === false);
  return { ...priority, urgency: urgency ?? priority.urgency };
}
