/**
 * Lists texts of a page that overlap each other, are cut or too small, by the rectangles in which they are really drawn. A text that ends in an
 * ellipsis needs its whole in a `title`; what scrolls, or can be dragged into sight, is not cut. The window must be high enough to
 * show all. Runs in the page, from its source text: it can use nothing from outside.
 */
export function listTextFaults(): string[] {
  /** Lines may be set as close as this share of their height, which holds accents and descenders. */
  const LINE_SLACK = 0.2;
  const SLACK = 1;
  /** Smaller text than this cannot be read, pixels. */
  const MIN_PX = 11;
  /** May scroll sideways: wide tables, code, and what is dragged. */
  const WIDE = '.hw-scroll, .hw-snippet';
  const DRAGGED = '.hw-graph';
  interface Box {
    left: number;
    right: number;
    top: number;
    bottom: number;
  }
  interface DrawnText {
    text: string;
    element: Element;
    boxes: Box[];
  }
  const faults: string[] = [];
  const name = (element: Element) => {
    const classes = [...element.classList].map((each) => `.${each}`).join('');
    return `${element.tagName.toLowerCase()}${classes}`;
  };
  const overlap = (a: Box, b: Box): Box => ({
    left: Math.max(a.left, b.left),
    right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top),
    bottom: Math.min(a.bottom, b.bottom),
  });
  const isEmpty = ({ left, right, top, bottom }: Box) => right - left <= SLACK || bottom - top <= SLACK;
  const ancestorsOf = (element: Element): Element[] => {
    const ancestors: Element[] = [];
    for (let at: Element | null = element; at; at = at.parentElement) ancestors.push(at);
    return ancestors;
  };
  const isOpaque = (element: Element) => {
    const { backgroundColor, opacity } = getComputedStyle(element);
    return (
      opacity === '1' && !/^(transparent|rgba\(.*, ?(0|0?\.\d+)\)|color\(.*\/.*\))$/.test(backgroundColor)
    );
  };

  /** The part of a text's box that its ancestors leave of it; what hides a part of it for good is a fault. */
  const clip = (box: Box, element: Element, text: string): Box => {
    let left = box;
    let isWithinReach = false;
    for (const ancestor of ancestorsOf(element)) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(ancestor);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      if (ancestor === document.body || ancestor === document.documentElement) continue;
      const frame = ancestor.getBoundingClientRect();
      const scrolls = [overflowX, overflowY].some((each) => each === 'auto' || each === 'scroll');
      isWithinReach ||= scrolls || ancestor.matches(DRAGGED);
      const isCut =
        box.left < frame.left - SLACK ||
        box.right > frame.right + SLACK ||
        (box.top + box.bottom) / 2 > frame.bottom + SLACK;
      // Known in full from its title, or brought into sight.
      isWithinReach ||=
        textOverflow === 'ellipsis' && ancestorsOf(ancestor).some((each) => each.hasAttribute('title'));
      if (isCut && !isWithinReach) faults.push(`“${text}” is cut by ${name(ancestor)}`);
      left = overlap(left, frame);
    }
    return left;
  };

  /** How high a text is drawn, in pixels: charts and graphs may be scaled. */
  const sizeOf = (element: Element): number => {
    const px = Number.parseFloat(getComputedStyle(element).fontSize);
    if (element instanceof SVGGraphicsElement) {
      const { a = 1, b = 0 } = element.getScreenCTM() ?? {};
      return px * Math.hypot(a, b);
    }
    const { offsetHeight } = element as HTMLElement;
    return offsetHeight > 0 ? (px * element.getBoundingClientRect().height) / offsetHeight : px;
  };

  const drawn: DrawnText[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? '';
    if (!element || text === '' || element.closest('script, style, select, title, .hw-visually-hidden'))
      continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    // Heights of elements are whole pixels.
    const size = Math.round(sizeOf(element) * 10) / 10;
    if (size < MIN_PX - 0.5) faults.push(`“${text}” in ${name(element)} is ${size} px high`);
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()]
      .map((rect) => clip(rect, element, text))
      .map((box) => {
        const inset = LINE_SLACK * (box.bottom - box.top);
        // The properties of a DOMRect are not its own.
        const { left, right, top, bottom } = box;
        return { left, right, top: top + inset, bottom: bottom - inset };
      })
      .filter((box) => !isEmpty(box));
    if (boxes.length > 0) drawn.push({ text, element, boxes });
  }

  for (const input of document.querySelectorAll('input')) {
    const { font, letterSpacing, paddingLeft, paddingRight } = getComputedStyle(input);
    if (!input.checkVisibility() || input.placeholder === '' || input.value !== '') continue;
    const context = document.createElement('canvas').getContext('2d')!;
    Object.assign(context, { font, letterSpacing });
    const room = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    const { width } = context.measureText(input.placeholder);
    if (width > room + SLACK) faults.push(`“${input.placeholder}” is cut by ${name(input)}`);
  }

  for (const select of document.querySelectorAll('select')) {
    const [chosen] = select.selectedOptions;
    if (!select.checkVisibility() || !chosen) continue;
    // As wide as its one choice needs.
    const whole = select.cloneNode() as HTMLSelectElement;
    whole.append(chosen.cloneNode(true));
    whole.style.cssText = 'position: absolute; width: max-content; min-width: 0; max-width: none';
    select.after(whole);
    const { width } = whole.getBoundingClientRect();
    whole.remove();
    if (width > select.getBoundingClientRect().width + SLACK)
      faults.push(`“${chosen.text}” is cut by ${name(select)}`);
  }

  /** Whether something opaque covers a text where it is drawn. */
  const isCovered = ({ element }: DrawnText, { left, right, top, bottom }: Box) => {
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!hit || hit.contains(element)) return false;
    return ancestorsOf(hit)
      .filter((each) => !each.contains(element))
      .some(isOpaque);
  };
  for (const [index, one] of drawn.entries()) {
    for (const other of drawn.slice(index + 1)) {
      const crossing = one.boxes
        .flatMap((a) => other.boxes.map((b) => overlap(a, b)))
        .find((box) => !isEmpty(box));
      if (!crossing || isCovered(one, crossing) || isCovered(other, crossing)) continue;
      faults.push(`“${one.text}” and “${other.text}” overlap in ${name(other.element)}`);
    }
  }

  for (const element of document.querySelectorAll('*')) {
    const { overflowX } = getComputedStyle(element);
    const isScroller =
      overflowX === 'auto' || overflowX === 'scroll' || element === document.scrollingElement;
    if (isScroller && element.scrollWidth > element.clientWidth + SLACK && !element.matches(WIDE)) {
      faults.push(`${name(element)} scrolls sideways`);
    }
  }
  return [...new Set(faults)];
}
