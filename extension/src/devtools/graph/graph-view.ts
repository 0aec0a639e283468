import type { Recording } from '@hopwise/contract';
import { select } from 'd3-selection';
import { type ZoomBehavior, zoom, zoomIdentity } from 'd3-zoom';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatMs, formatUrl } from '../../ui/format.ts';
import type { GraphLayout, PlacedEdge, PlacedNode } from '../emulation/graph-layout.ts';
import { nameType } from '../name-type.ts';
import { Minimap } from './minimap.ts';
import { neighbourOf } from './neighbours.ts';

const el = builder();
const SVG = 'http://www.w3.org/2000/svg';

const SCALES: [number, number] = [0.05, 2];
/** Space around a node that is brought into sight. */
const MARGIN = 24;

/**
 * A laid-out graph to zoom (Ctrl and the wheel), move (drag) and walk through: the arrow keys lead to what a node waits for, to what waits for it
 * and to the nodes beside it; Enter opens its details.
 */
export class GraphView {
  readonly element: HTMLElement = el('div', {
    class: 'hw-graph',
    role: 'group',
    'aria-label': t('graphLabel'),
  });
  readonly #layout: GraphLayout;
  readonly #canvas: HTMLElement;
  readonly #buttons: HTMLButtonElement[];
  readonly #paths: SVGPathElement[];
  readonly #minimap: Minimap;
  readonly #zoom: ZoomBehavior<HTMLElement, unknown>;
  /** The element's size: to read it in each frame of a zoom would have the page laid out. */
  #size = { width: 0, height: 0 };
  #focused = 0;
  /** Whether the user has not yet moved or zoomed it. */
  #isFitted = true;

  /** @param onSelect called with the index of a node */
  constructor(recording: Recording, layout: GraphLayout, onSelect: (node: number) => void) {
    this.#layout = layout;
    this.#paths = layout.edges.map(renderEdge);
    this.#buttons = layout.nodes.map((node, index) => {
      const button = renderNode(recording, node);
      button.tabIndex = index === 0 ? 0 : -1;
      button.addEventListener('click', () => onSelect(index));
      button.addEventListener('focus', () => this.#reveal(index));
      button.addEventListener('keydown', (event) => this.#onKey(event, index));
      return button;
    });
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('width', String(layout.width));
    svg.setAttribute('height', String(layout.height));
    svg.setAttribute('aria-hidden', 'true');
    svg.append(...this.#paths);
    this.#canvas = el('div', { class: 'hw-graph-canvas' }, svg, ...this.#buttons);
    this.#minimap = new Minimap(layout, (x, y) => {
      this.#isFitted = false;
      this.#zoom.translateTo(select(this.element), x, y);
    });
    this.element.append(this.#canvas, this.#minimap.element);
    this.#zoom = zoom<HTMLElement, unknown>()
      .scaleExtent(SCALES)
      // Without Ctrl the wheel scrolls the panel.
      .filter(({ type, ctrlKey, metaKey, button, target }) =>
        type === 'wheel' ? ctrlKey || metaKey : !button && !this.#minimap.element.contains(target),
      )
      .on('zoom', ({ transform, sourceEvent }) => {
        if (sourceEvent) this.#isFitted = false;
        this.#canvas.style.transform = `translate(${transform.x}px, ${transform.y}px) scale(${transform.k})`;
        const [x, y] = transform.invert([0, 0]);
        const { width, height } = this.#size;
        this.#minimap.show({ x, y, width: width / transform.k, height: height / transform.k });
      });
    select(this.element).call(this.#zoom).on('dblclick.zoom', null);
  }

  /** Marks the nodes and edges of a critical path. @param requestIds along it */
  mark(requestIds: readonly number[]): void {
    const path = requestIds.map((id) => this.findNode(id));
    const steps = new Set(path.slice(1).map((node, index) => `${path[index]} ${node}`));
    for (const [index, button] of this.#buttons.entries()) {
      button.classList.toggle('hw-critical-node', path.includes(index));
    }
    for (const [index, { from, to }] of this.#layout.edges.entries()) {
      this.#paths[index]!.classList.toggle('hw-critical-edge', steps.has(`${from} ${to}`));
    }
    this.#minimap.mark(path);
  }

  /** Marks nodes and leaves the others pale. @param nodes null for none and no paleness */
  markFound(nodes: readonly number[] | null): void {
    this.#canvas.classList.toggle('hw-searched', nodes !== null);
    for (const [index, button] of this.#buttons.entries()) {
      button.classList.toggle('hw-found', nodes?.includes(index) === true);
    }
  }

  /** Index of the node of a request; −1 for none. */
  findNode(requestId: number): number {
    return this.#layout.nodes.findIndex(({ requestIds }) => requestIds.includes(requestId));
  }

  focusNode(node: number): void {
    this.#buttons[node]?.focus();
  }

  zoomBy(factor: number): void {
    this.#isFitted = false;
    this.#zoom.scaleBy(select(this.element), factor);
  }

  /** Shows all of the graph, or as much as can be read. */
  fit(): void {
    this.#isFitted = true;
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0) return;
    const { width, height } = this.#layout;
    const scale = Math.max(MIN_READABLE, Math.min(1, clientWidth / width, clientHeight / height));
    const first = this.#layout.nodes[0];
    // What does not fit begins at the document.
    const top = first ? first.y * scale - clientHeight / 2 : 0;
    const y = height * scale <= clientHeight ? (clientHeight - height * scale) / 2 : -Math.max(0, top);
    const x = Math.max(0, (clientWidth - width * scale) / 2);
    this.#zoom.transform(select(this.element), zoomIdentity.translate(x, y).scale(scale));
    const seen = { x: -x / scale, y: -y / scale, width: clientWidth / scale, height: clientHeight / scale };
    this.#minimap.avoidNodes(seen, scale);
  }

  /** To be called when the size of the element has changed. */
  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.#size = { width, height };
    if (this.#isFitted) this.fit();
  }

  #reveal(index: number): void {
    this.#buttons[this.#focused]!.tabIndex = -1;
    this.#buttons[index]!.tabIndex = 0;
    this.#focused = index;
    // Browsers scroll what clips a focused element.
    this.element.scrollTo(0, 0);
    const frame = this.element.getBoundingClientRect();
    const node = this.#buttons[index]!.getBoundingClientRect();
    const dx = offsetInto(node.left, node.right, frame.left + MARGIN, frame.right - MARGIN);
    const dy = offsetInto(node.top, node.bottom, frame.top + MARGIN, frame.bottom - MARGIN);
    if (dx === 0 && dy === 0) return;
    const scale = node.width / this.#buttons[index]!.offsetWidth;
    this.#isFitted = false;
    this.#zoom.translateBy(select(this.element), dx / scale, dy / scale);
  }

  #onKey(event: KeyboardEvent, index: number): void {
    const target = neighbourOf(this.#layout, index, event.key);
    if (target === null) return;
    event.preventDefault();
    this.focusNode(target);
  }
}

/** Below this scale labels, which are 12 px high, are lower than 11 px. */
const MIN_READABLE = 0.92;

/** How far a span must move to lie between two ends. */
function offsetInto(from: number, to: number, low: number, high: number): number {
  if (from < low) return low - from;
  return to > high ? high - to : 0;
}

function renderNode({ url, requests }: Recording, { requestIds, type, x, y }: PlacedNode): HTMLButtonElement {
  const request = requests[requestIds[0]!]!;
  const isGroup = requestIds.length > 1;
  const name = isGroup ? `${requestIds.length} × ${nameType(type)}` : formatUrl(request.url, url, 26);
  const ends = requestIds.map((id) => requests[id]!.endMs);
  const detail = isGroup
    ? t('graphUntil', { time: formatMs(Math.max(...ends)) })
    : `${nameType(type)}, ${formatMs(request.endMs - request.startMs)}`;
  const button = el(
    'button',
    { type: 'button', class: `hw-node hw-node-${request.protocol ?? 'unknown'}`, title: request.url },
    el('span', { class: 'hw-node-name' }, name),
    el('span', { class: 'hw-node-detail' }, detail),
  );
  button.style.left = `${x}px`;
  button.style.top = `${y}px`;
  return button;
}

function renderEdge({ points, source }: PlacedEdge): SVGPathElement {
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x},${y}`).join(''));
  path.setAttribute('class', `hw-edge hw-edge-${source}`);
  return path;
}
