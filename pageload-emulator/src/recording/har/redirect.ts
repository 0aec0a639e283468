/** Whether a response with this status redirects. */
export function isRedirect(status: number): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}
