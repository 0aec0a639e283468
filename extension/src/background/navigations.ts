/** Listens to navigations where that is worth what it costs: the browser then starts the worker at each, while the page loads. */
import { messageOf } from '@hopwise/contract';
import { canListen, listenToNavigations, type RequestSink } from '../recorder/web-request.ts';

export class Navigations {
  readonly #sink: RequestSink;
  readonly #isWanted: () => Promise<boolean>;
  readonly #onNetworkChanged: () => void;
  readonly #onHintsAsked: (url: string, acceptCh: string) => void;
  /** The last answer; each waits for the one before, so that events stay in order. */
  #wanted: Promise<boolean>;
  #endListening: (() => void) | null = null;

  /**
   * To be made synchronously when the worker starts: the browser may have started it for a navigation, whose events it tells only to
   * listeners that are there by then. They end as soon as it is known that they are not wanted.
   *
   * @param isWanted asked now, and when what decides may have changed
   * @param onHintsAsked called with the URL of a page, and the `Accept-CH` of its answer
   */
  constructor(
    sink: RequestSink,
    isWanted: () => Promise<boolean>,
    onNetworkChanged: () => void,
    onHintsAsked: (url: string, acceptCh: string) => void,
  ) {
    this.#sink = sink;
    this.#isWanted = () =>
      isWanted().catch((error) => {
        console.error('hopwise: navigations are not listened to:', messageOf(error));
        return false;
      });
    this.#onNetworkChanged = onNetworkChanged;
    this.#onHintsAsked = onHintsAsked;
    this.#wanted = this.#isWanted();
    this.#listen();
    void this.#apply();
  }

  /** What decides may have changed. */
  update(): Promise<void> {
    this.#wanted = this.#wanted.then(this.#isWanted);
    return this.#apply();
  }

  async #apply(): Promise<void> {
    if (await this.#wanted) this.#listen();
    else {
      this.#endListening?.();
      this.#endListening = null;
    }
  }

  #listen(): void {
    if (!canListen()) return;
    // Some of a navigation's events would make a load that is never recorded.
    const ifWanted = async (tell: () => void) => {
      if (await this.#wanted) tell();
    };
    this.#endListening ??= listenToNavigations(
      {
        addRequest: (...event) => void ifWanted(() => this.#sink.addRequest(...event)),
        updateRequest: (...event) => void ifWanted(() => this.#sink.updateRequest(...event)),
        addFailure: (...event) => void ifWanted(() => this.#sink.addFailure(...event)),
      },
      this.#onNetworkChanged,
      (url, acceptCh) => void ifWanted(() => this.#onHintsAsked(url, acceptCh)),
    );
  }
}
