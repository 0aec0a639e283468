import type { FrameResource } from '../../src/recorder/page-timings.ts';

/** What a page measures of a request. A reused connection repeats fetchStart for the phases that did not occur. */
export function entry(
  name: string,
  startMs: number,
  endMs: number,
  more: Partial<FrameResource> = {},
): FrameResource {
  return {
    name,
    initiatorType: 'img',
    startTime: startMs,
    workerStart: 0,
    fetchStart: startMs,
    domainLookupStart: startMs,
    domainLookupEnd: startMs,
    connectStart: startMs,
    secureConnectionStart: startMs,
    connectEnd: startMs,
    requestStart: startMs + 1,
    responseStart: endMs - 5,
    responseEnd: endMs,
    transferSize: 1300,
    encodedBodySize: 1000,
    decodedBodySize: 2500,
    nextHopProtocol: 'h2',
    renderBlockingStatus: 'non-blocking',
    deliveryType: '',
    responseStatus: 0,
    maker: null,
    ...more,
  };
}
