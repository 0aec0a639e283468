/** Whether a response of that status sends the browser on to another URL. */
export function isRedirect(status: number): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}
