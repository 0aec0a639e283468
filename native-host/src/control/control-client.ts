/** The command line's side of the control socket. */
import { connect } from 'node:net';
import { frame, readFrames } from '../base/framing.ts';
import { oneLine } from '../base/one-line.ts';
import { checkFolder, controlFolder, type HostSocket, hostSockets } from './control-folder.ts';
import {
  CONTROL_VERSION,
  type ControlAnswer,
  type ControlRequest,
  controlAnswer,
  MAX_ANSWER_BYTES,
  MAX_REQUEST_BYTES,
} from './control-messages.ts';

type WithoutVersion<Request> = Request extends unknown ? Omit<Request, 'version'> : never;
export type ControlQuestion = WithoutVersion<ControlRequest>;

export interface HostAnswer {
  pid: number;
  answer: ControlAnswer;
}

/** Longer than the host's own limit for an answer. */
const ANSWER_TIMEOUT_MS = 6_000;

/**
 * Sends the question to every running host, or to those with these process ids. Sockets whose host has ended give no
 * answer.
 *
 * @throws Error when other users could have created the sockets
 */
export async function askHosts(
  question: ControlQuestion,
  pids: readonly number[] | null = null,
  folder: string = controlFolder(),
): Promise<HostAnswer[]> {
  const sockets = hostSockets(folder).filter(({ pid }) => pids === null || pids.includes(pid));
  if (sockets.length === 0) return [];
  checkFolder(folder);
  const answers = await Promise.all(sockets.map((socket) => askHost(socket, question)));
  return answers.filter((answer) => answer !== null);
}

/** @returns null when the host has ended. */
async function askHost({ pid, path }: HostSocket, question: ControlQuestion): Promise<HostAnswer | null> {
  const socket = connect(path);
  const timer = setTimeout(() => socket.destroy(new Error('it does not answer')), ANSWER_TIMEOUT_MS);
  try {
    socket.write(frame({ ...question, version: CONTROL_VERSION }, MAX_REQUEST_BYTES));
    for await (const value of readFrames(socket, MAX_ANSWER_BYTES)) {
      const parsed = controlAnswer.safeParse(value);
      if (!parsed.success) return { pid, answer: failure('bad-message', 'the host sent an unknown answer') };
      return { pid, answer: parsed.data };
    }
    throw new Error('it ended without an answer');
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return null;
    return { pid, answer: failure('internal', oneLine(message, 1024)) };
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function failure(code: 'bad-message' | 'internal', message: string): ControlAnswer {
  return { type: 'error', code, message };
}
