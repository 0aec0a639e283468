/** Shows elements in a parent, without taking those away that it has already: they would lose their scroll positions and the focus. */
export function showChildren(parent: HTMLElement, children: readonly HTMLElement[]): void {
  const isShown =
    parent.children.length === children.length &&
    children.every((child, index) => parent.children[index] === child);
  if (!isShown) parent.replaceChildren(...children);
}
