/** The host's side of the control socket. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { RequestError, type RequestErrorCode } from '../base/errors.ts';
import { frame, readFrames } from '../base/framing.ts';
import { oneLine } from '../base/one-line.ts';
import { controlFolder, prepareSocket } from './control-folder.ts';
import {
  CONTROL_VERSION,
  type ControlAnswer,
  type ControlRequest,
  controlAnswer,
  controlRequest,
  MAX_ANSWER_BYTES,
  MAX_REQUEST_BYTES,
} from './control-messages.ts';

interface ControlServerOptions {
  /** @throws RequestError for a request that is refused */
  answer(request: ControlRequest): Promise<ControlAnswer>;
  log(line: string): void;
  folder?: string;
}

const SOCKET_MODE = 0o600;
/** Users run one command at a time, scripts a few more. */
const MAX_CONNECTIONS = 16;
/** For a request and its answer together; both take milliseconds. */
const CONNECTION_TIMEOUT_MS = 5_000;

export class ControlServer {
  readonly #options: ControlServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #path = '';

  constructor(options: ControlServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => void this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Listens. Where that is not possible, the log says why, and pins work without the command line. */
  listen(): Promise<void> {
    const { log, folder = controlFolder() } = this.#options;
    return new Promise((resolve) => {
      const reportFailure = (fault: Error): void => {
        log(`no control socket: ${fault.message}`);
        resolve();
      };
      this.#server.once('error', reportFailure);
      try {
        const path = prepareSocket(process.pid, folder);
        this.#server.listen(path, () => {
          this.#path = path;
          this.#server.off('error', reportFailure);
          this.#server.on('error', (fault) => log(`control socket: ${fault.message}`));
          chmodSync(path, SOCKET_MODE);
          resolve();
        });
      } catch (fault) {
        reportFailure(fault as Error);
      }
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
    // Node has already removed it, unless it was moved.
    rmSync(this.#path, { force: true });
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), CONNECTION_TIMEOUT_MS);
    socket
      .on('error', () => {})
      .once('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(socket);
      });
    try {
      for await (const value of readFrames(socket, MAX_REQUEST_BYTES)) {
        const answer = controlAnswer.parse(await this.#answer(value));
        // Frames after the first are not read.
        socket.end(frame(answer, MAX_ANSWER_BYTES));
        await new Promise((resolve) => socket.once('close', resolve));
      }
    } catch {
      // An invalid frame, or the end of the connection.
      socket.destroy();
    }
  }

  async #answer(value: unknown): Promise<ControlAnswer> {
    const version = versionOf(value);
    if (version !== CONTROL_VERSION && version !== undefined) {
      const message = `the host has version ${CONTROL_VERSION} of the messages, the command ${version}: restart the browser`;
      return refusal('version', message);
    }
    const parsed = controlRequest.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return refusal('bad-message', `${issue?.path.join('.') || 'message'}: ${issue?.message ?? 'invalid'}`);
    }
    try {
      return await this.#options.answer(parsed.data);
    } catch (fault) {
      if (fault instanceof RequestError) return refusal(fault.code, fault.message);
      this.#options.log(`control socket: ${(fault as Error).stack}`);
      return refusal('internal', (fault as Error).message);
    }
  }
}

function refusal(code: RequestErrorCode, message: string): ControlAnswer {
  return { type: 'error', code, message: oneLine(message, 1024) };
}

function versionOf(value: unknown): number | undefined {
  const version =
    typeof value === 'object' && value !== null ? (value as { version?: unknown }).version : undefined;
  return typeof version === 'number' ? version : undefined;
}
