/** Structure replay: when scripts run, and how gaps between their arrival and their requests are divided. */
import { inMarkup, isMarkup, type ReplayNode, responseStart } from './node.ts';

/** A request that starts this soon after its sibling's end waits for it. */
const CHAINED_WITHIN_MS = 20;
/** The part of a gap beyond this is waiting, not work. */
const MAX_BUSY_MS = 100;
/** Limits the nesting of statements, which follows chains of waiting requests. */
const MAX_CHAIN = 100;
const MAX_DELAY_MS = 30_000;
/**
 * An unexplained gap beyond this is due to timers and to work on the recording machine. Both are the same under every protocol:
 * a tenth of the excess is kept, which preserves the order.
 */
const LONG_DELAY_MS = 1000;
const KEPT_OF_LONG_DELAY = 0.1;

/** Decides which scripts block the parser, and sets the wait of every request made by a script. */
export function schedule(nodes: ReplayNode[], pltMs: number | null): void {
  for (const node of nodes) decideBlocking(node);
  for (const node of nodes) placeInlineScript(node);
  scheduleScripts(nodes, pltMs);
}

/**
 * A script in markup blocks the parser when the recording says so, or when its requests started only after everything that
 * would have delayed a blocking script.
 */
function decideBlocking(document: ReplayNode): void {
  if (!isMarkup(document)) return;
  let ready = 0;
  for (const node of inMarkup(document)) {
    const { request } = node;
    if (node.type === 'style' && request.renderBlocking !== false) ready = Math.max(ready, request.endMs);
    if (node.type !== 'script' || request.renderBlocking === false) continue;
    const runs = Math.max(ready, request.endMs);
    const first = Math.min(...node.children.map((child) => child.request.startMs));
    if (request.renderBlocking !== true && first < runs) continue;
    node.blocksParser = true;
    ready = runs;
  }
}

/** Whether scripts behind it in the markup wait for it. */
const holdsUpScripts = (node: ReplayNode): boolean =>
  node.blocksParser ||
  (node.means === 'markup' && node.type === 'style' && node.request.renderBlocking !== false);

/** An inline script that made a request precedes resources that arrived only after that request and would have blocked it. */
function placeInlineScript(node: ReplayNode): void {
  if (node.means !== 'script' || node.afterLoad || node.parent === null || !isMarkup(node.parent)) return;
  const blocker = inMarkup(node.parent).find(
    (other) => holdsUpScripts(other) && other.request.endMs > node.request.startMs,
  );
  if (blocker === undefined || blocker.place > node.place) return;
  node.place = blocker.place;
  node.order = Math.min(node.order, blocker.order - 0.5);
}

/** When everything before `node` in the markup that blocks scripts had arrived. */
function heldUpUntil(node: ReplayNode): number {
  if (node.parent === null) return 0;
  const siblings = inMarkup(node.parent);
  const before = siblings.slice(0, siblings.indexOf(node)).filter(holdsUpScripts);
  return Math.max(0, ...before.map(({ request }) => request.endMs));
}

/** Divides the gaps between a script's arrival and its requests into work and waiting. */
function scheduleScripts(nodes: ReplayNode[], pltMs: number | null): void {
  // One main thread: no two scripts work at the same time.
  let busyUntil = 0;
  const runners = nodes.filter((node) => node.children.some(({ means }) => means === 'script'));
  const runsAt = new Map(runners.map((node) => [node, runTime(node)]));
  for (const node of runners.toSorted((a, b) => (runsAt.get(a) as number) - (runsAt.get(b) as number))) {
    const runs = runsAt.get(node) as number;
    const made = node.children
      .filter(({ means }) => means === 'script')
      .sort((a, b) => a.request.startMs - b.request.startMs);
    const before = made.filter(({ afterLoad }) => !afterLoad || node.afterLoad);
    const first = before[0]?.request.startMs ?? runs;
    if (!isMarkup(node)) {
      const from = Math.max(runs, busyUntil);
      node.busyMs = Math.max(0, Math.min(first - from, MAX_BUSY_MS));
      busyUntil = Math.max(busyUntil, from + node.busyMs);
    }
    for (const child of made) {
      const { startMs } = child.request;
      if (child.afterLoad && !node.afterLoad) {
        child.delayMs = clampDelay(startMs - (pltMs ?? startMs));
        continue;
      }
      const done = isMarkup(node)
        ? Math.max(whenParsed(child, node), heldUpUntil(child))
        : runs + node.busyMs;
      child.delayMs = clampDelay(startMs - done);
      const sibling = made
        .filter(
          (other) =>
            other !== child &&
            other.request.endMs <= startMs &&
            startMs - other.request.endMs <= CHAINED_WITHIN_MS &&
            other.type !== 'beacon' &&
            !other.afterLoad,
        )
        .sort((a, b) => a.request.endMs - b.request.endMs)
        .at(-1);
      if (sibling !== undefined && child.delayMs > CHAINED_WITHIN_MS && chainLength(sibling) < MAX_CHAIN) {
        child.after = sibling;
        child.delayMs = clampDelay(startMs - sibling.request.endMs);
      }
    }
  }
}

function chainLength(node: ReplayNode): number {
  let length = 1;
  for (let at = node.after; at !== null; at = at.after) length++;
  return length;
}

/** When the place of `child` in the markup of `document` had arrived. */
function whenParsed(child: ReplayNode, document: ReplayNode): number {
  const begin = responseStart(document);
  return begin + child.place * (document.request.endMs - begin);
}

function clampDelay(gapMs: number): number {
  const delayMs = Math.min(MAX_DELAY_MS, Math.max(0, gapMs));
  const long = Math.max(0, delayMs - LONG_DELAY_MS);
  return Math.round(delayMs - long + long * KEPT_OF_LONG_DELAY);
}

/** When it had arrived and nothing before it in the markup blocked it any more. */
function runTime(node: ReplayNode): number {
  if (isMarkup(node)) return responseStart(node);
  return node.blocksParser ? Math.max(node.request.endMs, heldUpUntil(node)) : node.request.endMs;
}
