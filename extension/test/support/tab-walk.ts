/** What the Tab key reaches in a view. */
interface TabWalk {
  /** Elements that can be used by mouse only. */
  unreached: string[];
  /** Elements that do not show that they have the focus, or have it out of sight. */
  unmarked: string[];
}

/** A page of either browser. */
interface KeyboardPage {
  evaluate<R>(what: () => R | Promise<R>): Promise<R>;
  /** @param key as in `KeyboardEvent.key` */
  press(key: string): Promise<unknown>;
}

/** Scrolling elements take the focus as well, besides what can be operated. */
const MAX_FURTHER_STOPS = 20;

/** Presses Tab from the start of the page until it has reached everything that can be operated. */
export async function walkByTab(page: KeyboardPage): Promise<TabWalk> {
  const count = await page.evaluate(collectOperable);
  const unmarked = new Set<string>();
  let unreached = await page.evaluate(listUnreached);
  for (let presses = 0; unreached.length > 0 && presses < count + MAX_FURTHER_STOPS; presses++) {
    await page.press('Tab');
    const { name, isMarked } = await page.evaluate(readFocus);
    if (!isMarked) unmarked.add(name);
    unreached = await page.evaluate(listUnreached);
  }
  return { unreached, unmarked: [...unmarked] };
}

/** Presses Tab until an element has the focus. @throws Error if it never has */
export async function tabTo(page: KeyboardPage, isFocused: () => boolean): Promise<void> {
  const count = await page.evaluate(collectOperable);
  for (let presses = 0; presses < count + MAX_FURTHER_STOPS; presses++) {
    await page.press('Tab');
    if (await page.evaluate(isFocused)) return;
  }
  throw new Error(`Tab never makes this true: ${isFocused}`);
}

type Operable = { unreached: Set<HTMLElement> };

/** Collects what can be operated, and puts the start of the tab order before it. Runs in the page. @returns its number */
function collectOperable(): number {
  const selector = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const all = [...document.querySelectorAll<HTMLElement & { disabled?: boolean }>(selector)];
  const isOfOtherRadio = (one: HTMLElement) =>
    one instanceof HTMLInputElement &&
    one.type === 'radio' &&
    !one.checked &&
    all.some((other) => other instanceof HTMLInputElement && other.name === one.name && other.checked);
  const operable = all.filter(
    (one) =>
      one.tabIndex >= 0 &&
      one.disabled !== true &&
      one.checkVisibility({ visibilityProperty: true }) &&
      !isOfOtherRadio(one),
  );
  (globalThis as unknown as Operable).unreached = new Set(operable);
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  return operable.length;
}

/** Leaves out what a view has drawn anew in the meantime. Runs in the page. */
function listUnreached(): string[] {
  const unreached = [...(globalThis as unknown as Operable).unreached].filter((one) => one.isConnected);
  return unreached.map((one) => one.outerHTML.slice(0, 160));
}

/** Notes which element has the focus, and whether that is to be seen. Runs in the page. */
async function readFocus(): Promise<{ name: string; isMarked: boolean }> {
  const focused = document.activeElement as HTMLElement;
  (globalThis as unknown as Operable).unreached.delete(focused);
  const label = focused.closest('label')?.textContent ?? '';
  const name = `${focused.outerHTML.slice(0, 160)} ${label.slice(0, 80)}`.trim();
  if (focused === document.body) return { name, isMarked: true };
  const isMarked = () => {
    const { outlineStyle, outlineWidth } = getComputedStyle(focused);
    const { top, bottom, left, right } = focused.getBoundingClientRect();
    const isInSight = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    return isInSight && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
  };
  // Browsers scroll to the focused element some frames after the key, on a busy machine many.
  for (let frame = 0; frame < 2 || (frame < 60 && !isMarked()); frame++)
    await new Promise(requestAnimationFrame);
  return { name, isMarked: isMarked() };
}
