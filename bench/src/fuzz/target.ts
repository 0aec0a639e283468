/** What is fuzzed: one parser or server with what has to hold of it for every input. */
export interface FuzzTarget {
  /** What it is, one line for the help text. */
  title: string;
  /** `json` inputs are also changed as values, others as bytes only. */
  input: 'json' | 'bytes';
  /** Pieces that random bytes would hardly hit upon. */
  dictionary?: readonly string[];
  /** Valid inputs, made by the code that writes them. */
  seeds(): Uint8Array[];
  /** Starts what every execution needs, such as a server. */
  open(): Promise<OpenTarget> | OpenTarget;
}

export interface OpenTarget {
  /** @throws anything for a finding: refusals that the parser declares are caught inside. */
  run(input: Uint8Array): Promise<void> | void;
  close?(): Promise<void> | void;
}

/** A property that an input breaks. */
export class BrokenProperty extends Error {
  override readonly name = 'BrokenProperty';
}

export function hold(holds: boolean, property: string): asserts holds {
  if (!holds) throw new BrokenProperty(property);
}

/**
 * Runs a parser that may refuse.
 *
 * @param refusal the class of error by which it does.
 * @returns null where it does.
 */
export function parsed<T>(parse: () => T, refusal: new (...args: never[]) => Error): T | null {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof refusal)) throw error;
    hold(!/[\r\n]/.test(error.message), 'a refusal is one line');
    hold(error.message.length < 1_000, 'a refusal is short');
    return null;
  }
}

export function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
