import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';

const el = builder();

/** Marks a row at its right end: what it shows goes on, or begins, after the visible time. */
export const renderLaterMark = (): HTMLElement =>
  el('div', { class: 'hw-later', role: 'img', 'aria-label': t('waterfallEndsLater') }, '→');
