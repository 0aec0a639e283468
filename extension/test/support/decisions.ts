import type { Action, Assignment, Decision } from '@hopwise/contract';

/** An action on the origins that its assignment names, from 4.3 s to 2.3 s, except for `more`. */
export function actionOf(kind: Action['kind'], assignment: Assignment, more: Partial<Action> = {}): Action {
  const protocols = new Set(Object.values(assignment));
  const [only] = protocols;
  return {
    kind,
    origins: Object.keys(assignment),
    protocol: protocols.size === 1 ? only! : null,
    assignment,
    time: { pltMs: 2300, low: 2000, high: 2700 },
    emulated: { pltMs: 2300, low: 2000, high: 2700 },
    gainMs: 2000,
    gain: 0.465,
    helps: 0.97,
    harms: 0.01,
    sure: true,
    needs:
      kind === 'force-protocol'
        ? ['helper', 'ca']
        : kind.endsWith('-h3') && kind !== 'avoid-h3'
          ? ['server']
          : ['helper'],
    worthwhile: true,
    measured: false,
    ...more,
  };
}

export const LEAVE: Action = actionOf(
  'leave',
  {},
  {
    time: { pltMs: 4300, low: 3800, high: 4900 },
    gainMs: 0,
    gain: 0,
    helps: 0,
    harms: 0,
    sure: false,
    needs: [],
    worthwhile: false,
  },
);

/** A decision for the first of the actions, which `leave` follows. */
export function decisionOf(actions: readonly Action[], more: Partial<Decision> = {}): Decision {
  const [action = LEAVE] = actions;
  return {
    kind: action.kind === 'leave' ? 'leave' : 'act',
    verdict: 'Keep a.example off HTTP/3: 4.3 s → about 2.3 s (sure)',
    best: 'h2',
    confidence: 0.9,
    protocols: { h2: { pltMs: 2300, low: 2000, high: 2700 } },
    baseline: {
      pltMs: 4300,
      low: 3800,
      high: 4900,
      visit: 'later',
      protocols: Object.fromEntries(
        actions.flatMap(({ origins }) => origins.map((origin) => [origin, 'h3'])),
      ),
      laterPltMs: 4300,
      emulated: { pltMs: 4500, low: 4000, high: 5100 },
      measured: false,
    },
    action,
    actions: [...actions, ...(action === LEAVE ? [] : [LEAVE])],
    indifferentOrigins: 0,
    evidence: [],
    changed: null,
    ...more,
  };
}
