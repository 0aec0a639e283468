/** About as long as a browser's. */
export const REQUEST_BYTES = 400;

/** Asks the origin of `origin-process.ts` for so many bytes. */
export function requestFor(bytes: number): Buffer {
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeDoubleLE(bytes);
  return request;
}
