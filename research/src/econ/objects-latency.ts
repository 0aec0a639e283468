import type { FetchActivity, PageGraph } from '@hopwise/pageload-emulator';
import { type EconNetwork, type EconOptions, econPageLoad } from '@hopwise/pageload-emulator/econ';

/**
 * ECON's finite-flow models of HTTP: how long objects of one size take that are requested from one server at once. As in the
 * paper's scenarios, the connection that brought the page is already open: HTTP/1.1 opens the other five, HTTP/2 needs no other.
 *
 * @returns milliseconds, mean over the trajectories
 */
export function objectsLatencyMs(
  protocol: 'h1' | 'h2',
  objects: number,
  objectBytes: number,
  network: EconNetwork,
  options: EconOptions = {},
): number {
  const graph: PageGraph = {
    url: 'https://objects.example/',
    origins: ['https://objects.example'],
    activities: Array.from({ length: objects }, (_, id): FetchActivity => {
      return {
        kind: 'fetch',
        id,
        requestId: id,
        url: `https://objects.example/${id}`,
        origin: 0,
        type: 'image',
        requestBytes: 0,
        responseBytes: objectBytes,
        blocksLoad: true,
        renderBlocking: false,
        urgency: 3,
        incremental: false,
        after: [],
        delayMs: 0,
      };
    }),
  };
  return econPageLoad(graph, network, protocol, { warmConnections: 1, ...options }).pltMs;
}
