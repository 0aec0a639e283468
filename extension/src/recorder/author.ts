/** What inserted an element, or changed its URL. */
export interface Author {
  by: 'parser' | 'script';
  /** URL of the script without fragment, '' for an inline script; null while it is unknown. */
  scriptUrl: string | null;
  /** Beginning of the task, or the latest known time before it. */
  sinceMs: number;
}
