/** Listens to navigations where that is worth what it costs: the browser then starts the worker at each, while the page loads. */
import { listenToNavigations, type RequestSink } from '../recorder/web-request.ts';

/** Whether navigations are to be listened to: null as long as the settings are not known. */
type IsWanted = () => boolean | null;

export class Navigations {
  readonly #ready: Promise<unknown>;
  readonly #isWanted: IsWanted;
  readonly #sink: RequestSink;
  readonly #onNetworkChanged: () => void;
  readonly #onHintsAsked: (url: string, acceptCh: string) => void;
  #endListening: (() => void) | null = null;

  /**
   * To be made synchronously when the worker starts: the browser may have started it for a navigation, whose events it tells only to
   * listeners that are there by then. They end as soon as it is known that they are not wanted.
   *
   * @param ready resolves when `isWanted` is known
   * @param onHintsAsked called with the URL of a page, and the `Accept-CH` of its answer
   */
  constructor(
    sink: RequestSink,
    ready: Promise<unknown>,
    isWanted: IsWanted,
    onNetworkChanged: () => void,
    onHintsAsked: (url: string, acceptCh: string) => void,
  ) {
    this.#sink = sink;
    this.#ready = ready;
    this.#isWanted = isWanted;
    this.#onNetworkChanged = onNetworkChanged;
    this.#onHintsAsked = onHintsAsked;
    this.#listen();
    void ready.then(() => this.update());
  }

  /** What decides has changed. */
  update(): void {
    if (this.#isWanted()) this.#listen();
    else {
      this.#endListening?.();
      this.#endListening = null;
    }
  }

  #listen(): void {
    // Some of a navigation's events would make a load that is never recorded.
    const ifWanted = (tell: () => void) => void this.#ready.then(() => this.#isWanted() && tell());
    this.#endListening ??= listenToNavigations(
      {
        addRequest: (...event) => ifWanted(() => this.#sink.addRequest(...event)),
        updateRequest: (...event) => ifWanted(() => this.#sink.updateRequest(...event)),
        addFailure: (...event) => ifWanted(() => this.#sink.addFailure(...event)),
      },
      this.#onNetworkChanged,
      (url, acceptCh) => ifWanted(() => this.#onHintsAsked(url, acceptCh)),
    );
  }
}
