import { t } from '../language/translate.ts';

/** Has a button open and close the toolbar's actions where the toolbar is too narrow to show them; elsewhere style hides it. */
export function foldActions(button: HTMLButtonElement, actions: HTMLElement): void {
  button.setAttribute('aria-label', t('panelActions'));
  button.title = t('panelActions');
  const isOpen = () => button.getAttribute('aria-expanded') === 'true';
  const show = (isWanted: boolean) => button.setAttribute('aria-expanded', String(isWanted));
  button.addEventListener('click', () => show(!isOpen()));
  document.addEventListener('click', ({ target }) => {
    const isAction = target instanceof HTMLButtonElement && actions.contains(target);
    const isElsewhere = target !== button && !actions.contains(target as Node);
    if (isAction || isElsewhere) show(false);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !isOpen()) return;
    show(false);
    button.focus();
  });
}
