import type {
  Action,
  ActionKind,
  ActionNeed,
  Assignment,
  Protocol,
  ResourceType,
  ServerProfile,
} from '@hopwise/contract';
import { PROTOCOLS } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { siteKey } from '../util/site.ts';

/** An action before its consequences are known. */
export type PlannedAction = Pick<Action, 'kind' | 'origins' | 'protocol' | 'assignment' | 'needs'>;

/** What actions on a page are planned from. */
interface ActionContext {
  graph: PageGraph;
  servers: readonly ServerProfile[];
  /** Those that can carry the page: not HTTP/3 where UDP is blocked. */
  usable: readonly Protocol[];
  /** Protocols that the browser uses by itself. */
  baseline: Assignment;
  /** The best joint assignment, where it is surely better than one protocol for all; else null. */
  joint: Assignment | null;
  /** Response bytes of an origin. */
  bytesOf: (origin: string) => number;
}

const NEEDS: Record<ActionKind, ActionNeed[]> = {
  leave: [],
  'avoid-h3': ['helper'],
  'force-protocol': ['helper', 'ca'],
  'offer-h3': ['server'],
  'withdraw-h3': ['server'],
};

/** Images and notices of other sites with less than this share of the page's bytes do not change how long it takes. */
const MIN_SHARE = 0.01;
const SMALL_MATTERS: ReadonlySet<ResourceType> = new Set(['image', 'beacon', 'other']);

/**
 * Plans what a person can do: `leave` first. Keeping origins off HTTP/3 is one decision, for all that offer it and for those
 * that the joint assignment has on another protocol; which older protocol they are forced to use is another. Changes of servers are
 * planned for the page's own site only: nobody runs the others' servers. An action leaves alone what does not matter to the page, as it
 * acts on the other pages of that origin too.
 */
export function planActions(context: ActionContext): PlannedAction[] {
  const { graph, usable, baseline, joint } = context;
  const secure = (url: string) => url.startsWith('https:');
  const site = siteKey(graph.url);
  const isOwn = (origin: string) => siteKey(origin) === site;
  const mattering = new Set(graph.origins.filter((origin) => isOwn(origin) || matters(context, origin)));
  const onlyMattering = (assignment: Assignment): Assignment =>
    Object.fromEntries(
      graph.origins.map((origin) => [origin, (mattering.has(origin) ? assignment : baseline)[origin]!]),
    );
  const onH3 = graph.origins.filter((origin) => baseline[origin] === 'h3' && mattering.has(origin));
  const plans: PlannedAction[] = [plan(context, 'leave', baseline)];
  if (onH3.length > 0) {
    const avoided = without(context, onH3);
    plans.push(plan(context, 'avoid-h3', avoided));
    const ownOnH3 = onH3.filter(isOwn);
    if (ownOnH3.length > 0) plans.push(plan(context, 'withdraw-h3', without(context, ownOnH3)));
    const some = joint === null ? [] : onH3.filter((origin) => joint[origin] !== 'h3');
    if (some.length > 0 && some.length < onH3.length)
      plans.push(plan(context, 'avoid-h3', without(context, some)));
  }
  for (const protocol of usable) {
    const forced = onlyMattering(
      Object.fromEntries(
        graph.origins.map((origin) => [
          origin,
          secure(origin) ? nearest(context, origin, protocol) : baseline[origin]!,
        ]),
      ),
    );
    if (changed(context, forced).length > 0) plans.push(plan(context, 'force-protocol', forced));
  }
  const moved = joint && onlyMattering(joint);
  if (moved !== null && changed(context, moved).length > 0)
    plans.push(plan(context, 'force-protocol', moved));
  // An http page needs https before HTTP/3 (RFC 9114, section 3.1).
  const offering = graph.origins.filter(
    (origin) => secure(graph.url) && secure(origin) && isOwn(origin) && baseline[origin] !== 'h3',
  );
  if (offering.length > 0 && usable.includes('h3')) {
    const assignment = {
      ...baseline,
      ...Object.fromEntries(offering.map((origin) => [origin, 'h3' as const])),
    };
    plans.push(plan(context, 'offer-h3', assignment));
  }
  return distinct(plans, graph.origins);
}

function plan(context: ActionContext, kind: ActionKind, assignment: Assignment): PlannedAction {
  const origins = changed(context, assignment);
  const protocols = new Set(origins.map((origin) => assignment[origin]!));
  const [only] = protocols;
  return { kind, origins, protocol: protocols.size === 1 ? only! : null, assignment, needs: NEEDS[kind] };
}

/** Whether an origin of another site can matter to the page: by its bytes, or by what waits for it. */
function matters({ graph, bytesOf }: ActionContext, origin: string): boolean {
  const total = graph.origins.reduce((sum, each) => sum + bytesOf(each), 0);
  if (bytesOf(origin) >= MIN_SHARE * total) return true;
  return graph.activities.some(
    (each) => each.kind === 'fetch' && graph.origins[each.origin] === origin && !SMALL_MATTERS.has(each.type),
  );
}

/** Origins that an assignment moves, those with the most bytes first. */
function changed({ graph, baseline, bytesOf }: ActionContext, assignment: Assignment): string[] {
  return graph.origins
    .filter((origin) => assignment[origin] !== baseline[origin])
    .sort((a, b) => bytesOf(b) - bytesOf(a));
}

/** The browser's own protocols with some origins kept off HTTP/3. */
function without(context: ActionContext, origins: readonly string[]): Assignment {
  const moved = origins.map((origin) => [origin, nearest(context, origin, 'h2')] as const);
  return { ...context.baseline, ...Object.fromEntries(moved) };
}

/** The protocol, or the next older one that the origin offers. */
function nearest({ servers }: ActionContext, origin: string, protocol: Protocol): Protocol {
  const offers = servers.find((server) => server.origin === origin)?.offers;
  const older = PROTOCOLS.slice(0, PROTOCOLS.indexOf(protocol) + 1);
  return older.findLast((candidate) => offers?.[candidate]) ?? 'h1';
}

/** Drops plans that repeat the kind and assignment of an earlier one, and forced protocols that equal a way to avoid HTTP/3. */
function distinct(plans: readonly PlannedAction[], origins: readonly string[]): PlannedAction[] {
  const seen = new Set<string>();
  return plans.filter(({ kind, assignment }) => {
    const key = origins.map((origin) => assignment[origin]).join();
    if (seen.has(`${kind} ${key}`) || (kind === 'force-protocol' && seen.has(`avoid-h3 ${key}`)))
      return false;
    seen.add(`${kind} ${key}`);
    return true;
  });
}
