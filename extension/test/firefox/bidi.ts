interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A WebDriver BiDi connection (https://w3c.github.io/webdriver-bidi/): commands and their answers, no events. */
export class Bidi {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #serial = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(gone());
    });
  }

  static async connect(url: string): Promise<Bidi> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`no WebDriver BiDi at ${url}`)));
    });
    return new Bidi(socket);
  }

  /** @throws Error with the browser's message when the command fails or the browser ends before its answer */
  send<T = unknown>(method: string, params: object = {}): Promise<T> {
    // A closed socket drops what is sent, without an error.
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(gone());
    const id = ++this.#serial;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as { id?: number; result?: unknown; error?: string; message?: string };
    const waiting = this.#waiting.get(message.id ?? -1);
    if (!waiting) return;
    this.#waiting.delete(message.id!);
    if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(new Error(`${message.error}: ${message.message}`));
  }
}

const gone = (): Error => new Error('the browser has gone');
