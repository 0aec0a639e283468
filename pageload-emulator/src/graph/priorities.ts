import type { RecordedRequest, ResourceType } from '@hopwise/contract';

/**
 * Chromium's default `Priority` (RFC 9218) by resource type: its net priorities become urgencies from 0 for the highest
 * (`net/quic`, `net/spdy`); types that are useful only when complete are not incremental (Blink's `ResourceFetcher`).
 */
const DEFAULT: Record<ResourceType, { urgency: number; incremental: boolean }> = {
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

/** The priority that the recorder states for a request, else Chromium's default for its type. */
export function priorityOf(request: RecordedRequest): { urgency: number; incremental: boolean } {
  const { type, renderBlocking } = request;
  const { urgency, incremental } = DEFAULT[type];
  const isLateScript = type === 'script' && renderBlocking === false;
  return { urgency: request.urgency ?? (isLateScript ? LATE_SCRIPT_URGENCY : urgency), incremental };
}
