/** The pins of each connected browser and the stored ones, read without starting anything. */
import type { PinState } from '@hopwise/contract';
import { counted } from '@hopwise/contract/terminal';
import { askHosts } from '../control/control-client.ts';
import { controlFolder } from '../control/control-folder.ts';
import type { Pin } from './pin.ts';
import { FilePinStore, type PinProblem } from './pin-store.ts';

interface PinSessionStatus {
  browser: string;
  pid: number;
  pins: PinState[];
}

interface PinsStatus {
  /** Browsers whose extension is connected, which it is while it has pins. */
  sessions: PinSessionStatus[];
  /** Stored pins, which the next session begins with. */
  stored: Pin[];
  problems: PinProblem[];
}

export async function pinsStatus(): Promise<PinsStatus> {
  const { pins, problems } = new FilePinStore().load();
  const nowMs = Date.now();
  const status: PinsStatus = {
    sessions: [],
    stored: pins.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs),
    problems,
  };
  try {
    for (const { pid, answer } of await askHosts({ type: 'status' })) {
      if (answer.type === 'status') status.sessions.push({ browser: answer.browser, pid, pins: answer.pins });
      else problems.push({ problem: `process ${pid}: ${answer.message}`, fix: 'restart the browser' });
    }
  } catch (fault) {
    problems.push({ problem: (fault as Error).message, fix: `remove ${controlFolder()}` });
  }
  return status;
}

/** A summary on one line. */
export function pinsLine({ sessions, stored }: PinsStatus): string {
  const words = sessions.map(({ browser, pins }) => `${counted(pins.length, 'pin')} in ${browser}`);
  if (sessions.length === 0) words.push('no extension is connected');
  if (stored.length > 0) words.push(`${counted(stored.length, 'pin')} stored`);
  return words.join(', ');
}

/** The stored pins that no connected browser has. */
export function storedOnly({ sessions, stored }: PinsStatus): PinState[] {
  const held = new Set(sessions.flatMap(({ pins }) => pins.map(({ origin }) => origin)));
  return stored
    .filter(({ origin }) => !held.has(origin))
    .map((pin) => ({ ...pin, state: 'active', reason: '' }));
}

const STATE_WORDS = { waiting: 'waits', lifted: 'lifted:' };

/** One pin on one line. */
export function pinLine(pin: PinState): string {
  const { origin, kind, expiresAtMs, persistent, state, reason } = pin;
  const until = expiresAtMs === null ? '' : ` until ${new Date(expiresAtMs).toISOString()}`;
  const kept = persistent ? ', kept' : '';
  return `${origin} ${kind}${until}${kept}${state === 'active' ? '' : `, ${STATE_WORDS[state]} ${reason}`}`;
}
