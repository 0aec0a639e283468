import { CLOCK_SLACK_MS, type RecordedRequest } from '@hopwise/contract';

/** When a response began, milliseconds; when withheld, half-way between request and last byte. */
export function responseBeginMs(request: RecordedRequest): number {
  return request.phases.responseStartMs ?? (request.startMs + request.endMs) / 2;
}

/** Whether a response had begun to arrive when `request` was made. */
export function hadBegun(response: RecordedRequest, request: RecordedRequest): boolean {
  return responseBeginMs(response) <= request.startMs + CLOCK_SLACK_MS;
}

/** Fraction of a response, 0 to 1, that had arrived at `atMs`. */
export function arrivedFraction(response: RecordedRequest, atMs: number): number {
  const beginMs = responseBeginMs(response);
  if (atMs >= response.endMs - CLOCK_SLACK_MS || response.endMs <= beginMs) return 1;
  return Math.max(0, (atMs - beginMs) / (response.endMs - beginMs));
}

/** When a fraction of a response had arrived, milliseconds. */
export function arrivalMs(response: RecordedRequest, fraction: number): number {
  if (fraction === 1) return response.endMs;
  const beginMs = responseBeginMs(response);
  return beginMs + fraction * (response.endMs - beginMs);
}
