/**
 * Lists texts of a page whose contrast with what is drawn behind them is below WCAG 2.2's level AA: 4.5, or 3 for large text. Colours are
 * the computed ones, with opacities, and in charts the shapes behind a label or its own halo. The window must be high enough to show all.
 * Runs in the page, from its source text: it can use nothing from outside.
 */
export function listContrastFaults(): string[] {
  const MIN_CONTRAST = 4.5;
  const MIN_CONTRAST_LARGE = 3;
  /** CSS pixels: 18 points, and 14 points in bold. */
  const LARGE_PX = 24;
  const LARGE_BOLD_PX = 18.66;
  type Rgba = [red: number, green: number, blue: number, alpha: number];

  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
  /** Any colour of CSS as sRGB, each part from 0 to 1. */
  const read = (color: string): Rgba => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].map((part) => part / 255) as Rgba;
  };
  const paint = (over: Rgba, below: Rgba): Rgba => {
    const mix = (index: 0 | 1 | 2) => over[index] * over[3] + below[index] * (1 - over[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const luminance = ([red, green, blue]: Rgba) => {
    const [r, g, b] = [red, green, blue].map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const contrast = (a: Rgba, b: Rgba) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high! + 0.05) / (low! + 0.05);
  };
  /** The opacity that an element is drawn with: its own and its ancestors'. */
  const opacityOf = (element: Element): number => {
    let opacity = 1;
    for (let at: Element | null = element; at; at = at.parentElement)
      opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const isInSvg = (element: Element) => element instanceof SVGElement && !(element instanceof SVGSVGElement);
  /** A paint of SVG; transparent for none and for gradients. */
  const readPaint = (value: string, opacity: number): Rgba => {
    if (value === 'none' || value.startsWith('url(')) return [0, 0, 0, 0];
    const [red, green, blue, alpha] = read(value);
    return [red, green, blue, alpha * opacity];
  };
  /** What an element draws over all of its box. */
  const fillOf = (element: Element): Rgba => {
    const { backgroundColor, fill, fillOpacity } = getComputedStyle(element);
    const own = isInSvg(element) ? readPaint(fill, Number(fillOpacity)) : read(backgroundColor);
    return [own[0], own[1], own[2], own[3] * opacityOf(element)];
  };
  /** What is drawn behind an element's text at a point; null where something else is in front of it. */
  const findBackground = (element: Element, x: number, y: number): Rgba | null => {
    const hit = document.elementsFromPoint(x, y);
    const index = hit.indexOf(element);
    if (index === -1) return null;
    const below = hit
      .slice(isInSvg(element) ? index + 1 : index)
      .filter((each) => !each.matches('text, tspan'));
    const canvas = read(matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#ffffff');
    return below.reverse().reduce((drawn, each) => paint(fillOf(each), drawn), canvas);
  };

  const style = document.createElement('style');
  style.textContent = '* { pointer-events: auto !important }';
  document.head.append(style);
  const faults = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? '';
    if (
      !element ||
      text === '' ||
      element.closest('script, style, title, option, :disabled, [aria-disabled=true]')
    )
      continue;
    if (element.closest('.hw-visually-hidden')) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const [box] = range.getClientRects();
    if (!box || box.width === 0) continue;
    let background = findBackground(element, box.left + box.width / 2, box.top + box.height / 2);
    if (!background) continue;
    const { color, fill, fillOpacity, stroke, strokeOpacity, paintOrder, fontSize, fontWeight } =
      getComputedStyle(element);
    const opacity = opacityOf(element);
    if (isInSvg(element) && paintOrder.startsWith('stroke'))
      background = paint(readPaint(stroke, Number(strokeOpacity) * opacity), background);
    const drawn = isInSvg(element) ? readPaint(fill, Number(fillOpacity)) : read(color);
    const foreground = paint([drawn[0], drawn[1], drawn[2], drawn[3] * opacity], background);
    const px = Number.parseFloat(fontSize);
    const isLarge = px >= LARGE_PX || (px >= LARGE_BOLD_PX && Number(fontWeight) >= 700);
    const ratio = contrast(foreground, background);
    if (ratio >= (isLarge ? MIN_CONTRAST_LARGE : MIN_CONTRAST)) continue;
    const classes = [...element.classList].map((each) => `.${each}`).join('');
    faults.add(`“${text}” (${element.tagName.toLowerCase()}${classes}): ${ratio.toFixed(2)}`);
  }
  style.remove();
  return [...faults];
}
