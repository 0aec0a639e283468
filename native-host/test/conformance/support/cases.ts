/** What origins answer, and what may become of it. */

export const MIB = 1024 * 1024;

/** The body of a sound answer. */
export const RIGHT = 'right '.repeat(20);

/** An answer of an origin's, in whatever way the origin takes them. */
export type Case<Answer> = Answer & {
  name: string;
  /** The bodies that may come of it; null is a broken response. */
  right: (string | null)[];
  status?: number;
};
