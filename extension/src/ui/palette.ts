import { PROTOCOLS } from '@hopwise/pageload-emulator';
import type { ScaleOptions } from '@observablehq/plot';

/** Colour of each protocol as theme.css sets it for light and dark. */
export const PROTOCOL_COLOURS: ScaleOptions = {
  type: 'ordinal',
  domain: [...PROTOCOLS, 'unknown'],
  range: ['var(--hw-h1)', 'var(--hw-h2)', 'var(--hw-h3)', 'var(--hw-unknown)'],
};
