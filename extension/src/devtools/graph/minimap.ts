import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import type { GraphLayout } from '../emulation/graph-layout.ts';
import { NODE_HEIGHT, NODE_WIDTH } from '../emulation/node-size.ts';

const el = builder();
const SVG = 'http://www.w3.org/2000/svg';

/** Largest size, CSS pixels. */
const MAX_WIDTH = 160;
const MAX_HEIGHT = 100;

/** The part of a graph that is in sight, in the graph's own pixels. */
interface VisiblePart {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** All of a graph in small, with a frame around what is in sight; a click or a drag moves there. */
export class Minimap {
  readonly element: HTMLElement;
  readonly #layout: GraphLayout;
  /** CSS pixels of the map for one of the graph. */
  readonly #scale: number;
  readonly #critical = createPath('hw-minimap-critical');
  readonly #frame = el('div', { class: 'hw-minimap-frame' });

  /** @param onMove called with the point that is to come into the middle, in the graph's own pixels */
  constructor(layout: GraphLayout, onMove: (x: number, y: number) => void) {
    this.#layout = layout;
    const { width, height } = layout;
    this.#scale = Math.min(MAX_WIDTH / Math.max(1, width), MAX_HEIGHT / Math.max(1, height));
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    const nodes = createPath('hw-minimap-nodes');
    nodes.setAttribute('d', this.#outline([...layout.nodes.keys()]));
    svg.append(nodes, this.#critical);
    this.element = el('div', { class: 'hw-minimap', role: 'img', 'aria-label': t('graphMinimap') });
    this.element.append(svg, this.#frame);
    this.element.style.width = `${width * this.#scale}px`;
    this.element.style.height = `${height * this.#scale}px`;
    const move = ({ clientX, clientY, buttons }: PointerEvent) => {
      if (buttons === 0) return;
      const { left, top } = this.element.getBoundingClientRect();
      onMove((clientX - left) / this.#scale, (clientY - top) / this.#scale);
    };
    this.element.addEventListener('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      move(event);
    });
    this.element.addEventListener('pointermove', move);
  }

  /** @param nodes indexes of those on the critical path */
  mark(nodes: readonly number[]): void {
    this.#critical.setAttribute('d', this.#outline(nodes));
  }

  /** Moves the frame. Where all is in sight there is nothing to find. */
  show({ x, y, width, height }: VisiblePart): void {
    const { width: allWidth, height: allHeight } = this.#layout;
    this.element.hidden = x <= 0 && y <= 0 && x + width >= allWidth && y + height >= allHeight;
    const { style } = this.#frame;
    style.transform = `translate(${x * this.#scale}px, ${y * this.#scale}px)`;
    style.width = `${width * this.#scale}px`;
    style.height = `${height * this.#scale}px`;
  }

  /** Moves the map to the corner in which it covers the fewest nodes. @param zoom pixels of the screen for one of the graph */
  avoidNodes({ x, y, width, height }: VisiblePart, zoom: number): void {
    const mapWidth = (this.#layout.width * this.#scale) / zoom;
    const mapHeight = (this.#layout.height * this.#scale) / zoom;
    const corners = [false, true].flatMap((isTop) =>
      [false, true].map((isLeft) => {
        const left = isLeft ? x : x + width - mapWidth;
        const top = isTop ? y : y + height - mapHeight;
        const covered = this.#layout.nodes.filter(
          (node) =>
            node.x < left + mapWidth &&
            node.x + NODE_WIDTH > left &&
            node.y < top + mapHeight &&
            node.y + NODE_HEIGHT > top,
        );
        return { isLeft, isTop, covered: covered.length };
      }),
    );
    const [best] = corners.toSorted((a, b) => a.covered - b.covered);
    this.element.classList.toggle('hw-at-left', best!.isLeft);
    this.element.classList.toggle('hw-at-top', best!.isTop);
  }

  #outline(nodes: readonly number[]): string {
    return nodes
      .flatMap((index) => this.#layout.nodes[index] ?? [])
      .map(({ x, y }) => `M${x},${y}h${NODE_WIDTH}v${NODE_HEIGHT}h${-NODE_WIDTH}z`)
      .join('');
  }
}

function createPath(className: string): SVGPathElement {
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('class', className);
  return path;
}
