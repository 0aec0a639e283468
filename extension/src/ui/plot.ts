import * as Plot from '@observablehq/plot';

/** A chart whose parts have roles, so that their labels may be read: Plot labels groups that have none. */
export function renderPlot(options: Plot.PlotOptions): ReturnType<typeof Plot.plot> {
  const plot = Plot.plot(options);
  for (const part of plot.querySelectorAll('g[aria-label]')) part.setAttribute('role', 'group');
  return plot;
}
