/** Charts as SVG, drawn without a browser; their colours are the custom properties of the theme. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Window } from 'happy-dom';

export interface Chart {
  /** File name without its ending. */
  name: string;
  title: string;
  /** An `<svg>`. */
  svg: string;
}

/** Calls `draw` with a temporary document. */
export function withDocument<T>(draw: (document: Document) => T): T {
  const window = new Window();
  try {
    // Plot only uses standard DOM features.
    return draw(window.document as unknown as Document);
  } finally {
    window.close();
  }
}

export function toSvg(plot: Element): string {
  // Namespace declarations, needed outside of an HTML page.
  plot.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return plot.outerHTML;
}

/** The stylesheet of hopwise's views: colours and type. */
export const themeCss = (): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve('@hopwise/extension/theme.css'), 'utf8');

/** A chart as a separate file, including its colours. */
export async function standaloneSvg({ svg }: Chart): Promise<string> {
  const own =
    'svg { color: var(--hw-text); background: var(--hw-surface); font-family: system-ui, sans-serif; }';
  const style = `<style>${coloursOf(await themeCss())}\n${own}</style>`;
  return svg.replace('>', () => `>${style}`);
}

/** The theme's custom properties, light and dark. */
function coloursOf(theme: string): string {
  const blocks = theme.match(/(@media \(prefers-color-scheme: dark\) \{\s*)?:root \{[^}]*\}(\s*\})?/g);
  if (!blocks) throw new Error('theme.css: expected colours under :root');
  return blocks.join('\n');
}
