import { PROTOCOLS } from '@hopwise/pageload-emulator';
import type { ScaleOptions } from '@observablehq/plot';

/** Colour of each protocol; theme.css defines them for light and dark. */
export const PROTOCOL_COLOURS: ScaleOptions = {
  type: 'ordinal',
  domain: [...PROTOCOLS, 'unknown'],
  range: ['var(--hw-h1)', 'var(--hw-h2)', 'var(--hw-h3)', 'var(--hw-unknown)'],
};

/** Colour of each row of a comparison: the protocols' own, the text's for what hopwise chose, a muted one for the browser's choice. */
export const ROW_COLOURS: ScaleOptions = {
  type: 'ordinal',
  domain: [...PROTOCOLS, 'baseline', 'later', 'assigned'],
  range: [
    'var(--hw-h1)',
    'var(--hw-h2)',
    'var(--hw-h3)',
    'var(--hw-muted)',
    'var(--hw-muted)',
    'var(--hw-text)',
  ],
};
