/** The lab: an emulated link and a replay server in network namespaces of their own, run by a Go program. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Assignment, Protocol } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { UserError } from '../command/errors.ts';
import { makeScratch } from '../command/scratch.ts';
import type { Site } from '../sites/site.ts';
import { labProgram } from './build.ts';
import { checkNetwork, type LabNetwork } from './networks.ts';
import { frontPrograms, type ServerStack } from './server-stack.ts';

const settingsSchema = z.object({
  /** Applies to TCP and, with `nginx-quiche`, to QUIC. */
  congestionControl: z.enum(['cubic', 'reno', 'bbr']),
  /** Counts TCP's segments and, with `nginx-quiche`, QUIC's packets. */
  initialWindow: z.int(),
  /** What the server does about the priorities of requests on HTTP/2 and HTTP/3 (RFC 9218). */
  priorities: z.enum(['honoured', 'ignored']),
});

const originSchema = z.object({
  /** `https://host`. */
  origin: z.string(),
  address: z.string(),
  address6: z.string(),
  /** Protocols on offer; none where the served site lacks the origin. */
  protocols: z.array(z.enum(['h1', 'h2', 'h3'])),
  /** Round trip beyond the link's. */
  extraRttMs: z.number(),
  /** On top of each resource's own. */
  thinkMs: z.number(),
  ...settingsSchema.shape,
});

/** The server of HTTP/1.1 and HTTP/2; the kernel is its transport. */
export const tcpSchema = z.object({
  /** Name and version. */
  stack: z.string(),
});

/** Values of the HTTP/3 servers' stack; packets are of the path's size. */
export const quicSchema = z.object({
  /** Name and version. */
  stack: z.string(),
  congestionControl: z.enum(['cubic', 'reno', 'bbr']),
  /** In packets, like `minimumWindow`. */
  initialWindow: z.int(),
  minimumWindow: z.int(),
  /** Factor by which a congestion event multiplies the window; 0 for BBR, which has none. */
  lossFactor: z.number(),
  /** Rate at which packets leave, in windows a smoothed round trip; 0 where the window does not pace them. */
  pacingFactor: z.number(),
  /** Packets that leave at once. */
  pacingBurst: z.int(),
  /** Grows by path MTU discovery to `maxPacketBytes`; IP and UDP headers excluded. */
  initialPacketBytes: z.int(),
  maxPacketBytes: z.int(),
  /** Assumed until there is a measurement. */
  initialRttMs: z.number(),
  maxAckDelayMs: z.number(),
  /** Flow control of what the client sends, at first and at most. */
  streamWindowBytes: z.int(),
  maxStreamWindowBytes: z.int(),
  connectionWindowBytes: z.int(),
  maxConnectionWindowBytes: z.int(),
});

/** How the link's threads are scheduled: `normal` where the rights for more are missing. */
export const schedulingSchema = z.enum(['fifo', 'normal']);

const readySchema = z.object({
  ready: z.literal(true),
  holderPid: z.int(),
  enter: z.array(z.string()),
  caFile: z.string(),
  caSpki: z.string(),
  origins: z.array(originSchema),
  /** Defaults for origins that the site does not configure. */
  server: settingsSchema,
  tcp: tcpSchema,
  /** Null where no origin of the first site offers HTTP/3 and the stack's server for it does not run. */
  quic: quicSchema.nullable(),
  scheduling: schedulingSchema,
  rootless: z.boolean(),
});

const durationsSchema = z.object({ mean: z.number(), p50: z.number(), p99: z.number(), max: z.number() });

/** Packets by what dropped them; `device` counts those that the receiving host did not take. */
export const dropsSchema = z.object({
  queue: z.int(),
  loss: z.int(),
  udpBlocked: z.int(),
  udpPoliced: z.int(),
  udpLoss: z.int(),
  device: z.int(),
});

const directionSchema = z.object({
  /** Packets and bytes that entered the link, including those dropped later. */
  packets: z.int(),
  bytes: z.int(),
  delivered: z.int(),
  deliveredBytes: z.int(),
  /** From the first delivery to the last. */
  deliveryMs: z.number(),
  drops: dropsSchema,
  maxQueueBytes: z.int(),
  queueDelayMs: durationsSchema,
  /** How long after its time a packet was handed over. */
  latenessMs: durationsSchema,
  /** Packets handed over at least 1 ms after their time. */
  latePackets: z.int(),
  /** Numbers, from 0 in order of arrival since the last seed, of the first 1000 packets lost at random. */
  lost: z.array(z.int()),
});

const statsSchema = z.object({ down: directionSchema, up: directionSchema });

const logSchema = z.object({
  entries: z.array(
    z.object({
      origin: z.string(),
      method: z.string(),
      path: z.string(),
      /** Path of the resource that answered, if it is a similar one. */
      answered: z.string().optional(),
      protocol: z.enum(['h1', 'h2', 'h3']),
      status: z.int(),
      /** Bytes of the body that were written. */
      bytes: z.int(),
      /** Unix time at which the request arrived. */
      startMs: z.number(),
      durationMs: z.number(),
      /** Numbers the connections of the server. */
      connection: z.int(),
      /** The connection's TLS handshake resumed an earlier session. */
      resumed: z.boolean().optional(),
      /** The connection began with early data (0-RTT). */
      earlyData: z.boolean().optional(),
      /** The site has no such resource. */
      miss: z.boolean().optional(),
      /** The client went away before the end. */
      aborted: z.boolean().optional(),
    }),
  ),
  /** Number of older entries dropped because the log is bounded. */
  dropped: z.int(),
  /** Messages of the server's TLS and HTTP stacks. */
  errors: z.array(z.string()),
});

const originsSchema = z.object({ origins: z.array(originSchema) });

type LabOrigin = z.infer<typeof originSchema>;
/** Changes to a server, in the form of `site.json`. */
export type SiteServerChange = Partial<Omit<Site['origins'][number], 'origin'>>;
export type LabStats = z.infer<typeof statsSchema>;
export type LabLog = z.infer<typeof logSchema>;
/** Facts of a running lab. */
export type LabFacts = z.infer<typeof readySchema>;

/** A server outside the lab. */
export interface LabUpstream {
  /** Absolute path of a Unix socket that leads to it: the lab's namespaces have networks of their own, but share the file system. */
  socket: string;
  /** Its origin where it runs, such as `http://localhost:3000`. */
  url: string;
}

export interface LabOptions {
  /** Folder with `site.json`. */
  site: string;
  network: LabNetwork;
  /** Scratch folder; `up` makes it, `down` removes it with its content. */
  dir?: string;
  /**
   * The replay server, where the site does not say otherwise for an origin: its TCP, cubic with an initial window of 10
   * segments unless given, and whether it honours priorities on HTTP/2 and HTTP/3, as it does unless given.
   */
  server?: Partial<z.infer<typeof settingsSchema>>;
  /** The servers' programs; `go` unless given. Missing programs of the others are set up first. */
  stack?: ServerStack;
  /** Schedules the replay server ahead of the machine's other processes, for transfers whose client is scheduled so too. */
  aheadOfOthers?: boolean;
  /** Bytes that receive buffers of the client's TCP begin with, half of which is offered to the sender; the kernel's default unless given. */
  receiveBuffer?: number;
  /** What host names resolve to inside the lab; 4 unless given. */
  ipVersion?: 4 | 6;
  /** Whether the servers' addresses look like those on the internet, which the extension and the helper do not take for local. */
  publicAddresses?: boolean;
  /** Servers outside the lab that answer for origins of the site in place of its resources, by origin. */
  upstreams?: Readonly<Record<string, LabUpstream>>;
  /** Takes the lab down when aborted. */
  signal?: AbortSignal;
}

type Command = Record<string, unknown> & { cmd: string };
type Pending = { resolve: (line: string) => void; reject: (error: Error) => void };
type LabProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const OK = z.object({ ok: z.literal(true) });
/** Exit code of the program for input that it cannot use. */
const EXIT_INPUT = 2;
/** Time for the program to shut down before it is killed. */
const DOWN_LIMIT_MS = 5000;

export class Lab {
  readonly facts: LabFacts;
  readonly #channel: Channel;
  readonly #dir: string;
  /** What the site has. */
  #own: LabOrigin[];
  #origins: LabOrigin[];
  #wrappers = 0;
  #downing: Promise<void> | undefined;

  private constructor(channel: Channel, facts: LabFacts, dir: string, signal: AbortSignal | undefined) {
    this.#channel = channel;
    this.facts = facts;
    this.#own = facts.origins;
    this.#origins = facts.origins;
    this.#dir = dir;
    signal?.addEventListener('abort', () => void this.down(), { once: true });
  }

  /**
   * Builds the program where needed and brings a lab up, within about half a second.
   *
   * @throws UserError for a site or a configuration that the lab cannot use, otherwise an Error; either says in one line what is missing or wrong.
   */
  static async up({
    site,
    network,
    dir,
    server,
    stack = 'go',
    aheadOfOthers,
    receiveBuffer,
    ipVersion,
    publicAddresses,
    upstreams,
    signal,
  }: LabOptions): Promise<Lab> {
    signal?.throwIfAborted();
    checkNetwork(network);
    const binary = await labProgram(signal);
    const fronts = stack === 'go' ? undefined : await frontPrograms(site, { ...(signal && { signal }) });
    const scratch = dir ?? (await makeScratch('lab'));
    const channel = new Channel();
    try {
      const config = join(scratch, 'lab.json');
      await mkdir(scratch, { recursive: true, mode: 0o700 });
      await writeFile(
        config,
        JSON.stringify({
          site,
          network,
          dir: scratch,
          server,
          fronts,
          aheadOfOthers,
          receiveBuffer,
          ipVersion,
          publicAddresses,
          upstreams,
        }),
      );
      const facts = await channel.open(binary, config, signal);
      return new Lab(channel, facts, scratch, signal);
    } catch (error) {
      await channel.close();
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  /** PEM of the CA that signed the servers' certificates. */
  get caFile(): string {
    return this.facts.caFile;
  }

  /** Base64 SHA-256 of the CA's public key, for Chromium's `--ignore-certificate-errors-spki-list`. */
  get caSpki(): string {
    return this.facts.caSpki;
  }

  /** What is currently served. */
  get origins(): LabOrigin[] {
    return this.#origins;
  }

  /** Host names of the origins. */
  get hosts(): string[] {
    return this.#origins.map(({ origin }) => new URL(origin).hostname);
  }

  /** Process that holds the client's namespaces. */
  get holderPid(): number {
    return this.facts.holderPid;
  }

  /** `command` as run inside the client's namespaces; paths in it must be absolute. */
  enterCommand(command: string[]): string[] {
    return [...this.facts.enter, ...command];
  }

  /**
   * Writes a script that stands for a program and runs it inside the client's namespaces, with the
   * caller's arguments, working directory and open files.
   *
   * @returns the script's path.
   */
  async wrapper(program: string, env: Record<string, string> = {}): Promise<string> {
    this.#wrappers += 1;
    const path = join(this.#dir, `${basename(program)}-${this.#wrappers}`);
    const settings = Object.entries(env).map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new Error(`lab: ${JSON.stringify(name)} is not a variable name`);
      return `export ${name}=${quote(value)}\n`;
    });
    // Entering a mount namespace goes to its root folder, hence the way back.
    const inside = `/bin/sh -c 'cd "$0" && exec "$@"' "$PWD" ${quote(program)} "$@"`;
    const enter = this.facts.enter.map(quote).join(' ');
    await writeFile(path, `#!/bin/sh\n${settings.join('')}exec ${enter} ${inside}\n`);
    await chmod(path, 0o700);
    return path;
  }

  /** Changes the link from now on, even during a load. */
  async configure(network: LabNetwork): Promise<void> {
    await this.#channel.ask({ cmd: 'configure', network: checkNetwork(network) }, OK);
  }

  /** Counts of the link since it is up or since `resetStats`. */
  stats(): Promise<LabStats> {
    return this.#channel.ask({ cmd: 'stats' }, statsSchema);
  }

  async resetStats(): Promise<void> {
    await this.#channel.ask({ cmd: 'reset-stats' }, OK);
  }

  /** What the replay server answered since the last call. */
  log(): Promise<LabLog> {
    return this.#channel.ask({ cmd: 'log' }, logSchema);
  }

  /** Waits until the link has been empty for 200 ms, 3 s at most. @returns whether it is. */
  async drain(): Promise<boolean> {
    return (await this.#channel.ask({ cmd: 'drain' }, z.object({ quiet: z.boolean() }))).quiet;
  }

  /**
   * Serves another site, all of whose origins the lab was started with. Open connections are closed; their TLS and QUIC
   * sessions can be resumed.
   */
  async serve(siteDir: string): Promise<void> {
    this.#origins = (await this.#channel.ask({ cmd: 'site', site: siteDir }, originsSchema)).origins;
    this.#own = this.#origins;
  }

  /**
   * Changes servers of the site that is served, until the next `serve`. Open connections to them are closed, with
   * `nginx-quiche` those to the other origins too; their sessions can be resumed.
   *
   * @param changes by origin
   * @throws with one line that names the origin and the entry
   */
  async configureServers(changes: Record<string, SiteServerChange>): Promise<void> {
    this.#origins = (await this.#channel.ask({ cmd: 'servers', servers: changes }, originsSchema)).origins;
  }

  /**
   * Makes each origin of the site offer only its assigned protocol, or, given null, the protocols that the site lists.
   *
   * @throws with one line that names an origin without a protocol
   */
  async offer(assignment: Assignment | null): Promise<void> {
    const served = this.#own.filter(({ protocols }) => protocols.length > 0);
    const unassigned = assignment && served.find(({ origin }) => assignment[origin] === undefined);
    if (unassigned) throw new Error(`lab: offer: expected a protocol for ${unassigned.origin}, got none`);
    const changes = served.map(({ origin, protocols }): [string, SiteServerChange] => [
      origin,
      { protocols: assignment ? [assignment[origin] as Protocol] : protocols },
    ]);
    await this.configureServers(Object.fromEntries(changes));
  }

  /** Takes everything down and removes the scratch folder. May be called again. */
  down(): Promise<void> {
    this.#downing ??= this.#channel.close().then(() => rm(this.#dir, { recursive: true, force: true }));
    return this.#downing;
  }
}

/**
 * Checks whether this user can start a lab here, by creating namespaces and devices.
 *
 * @returns one line that says what is missing and how to fix it, or null.
 */
export async function labObstacle(): Promise<string | null> {
  try {
    await promisify(execFile)(await labProgram(), ['doctor']);
    return null;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return complaintIn(stderr ?? '') ?? message;
  }
}

/** The line-based dialogue with the program: one answer per command. */
class Channel {
  #process: LabProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #pending: Pending[] = [];
  #complaint = '';
  #failure: Error | undefined;

  async open(binary: string, config: string, signal: AbortSignal | undefined): Promise<LabFacts> {
    const child = spawn(binary, ['up', '--config', config], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-10_000);
    });
    // If the program has ended, its exit is reported, not the failed write.
    child.stdin.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      child.on('error', (error) => this.#fail(new Error(`lab: ${binary}: ${error.message}`)));
      child.on('close', (code, killer) => {
        const message = complaintIn(this.#complaint);
        // Go panics exit with the same code, but without this prefix.
        this.#fail(
          message !== undefined && code === EXIT_INPUT
            ? new UserError(message, EXIT_INPUT)
            : new Error(message ?? `lab: ended with ${killer ?? `exit code ${code}`}`),
        );
        resolve();
      });
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.#pending.shift()?.resolve(line));
    const onAbort = () => child.stdin.end();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return parse(await this.#nextLine(), readySchema);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      signal?.throwIfAborted();
    }
  }

  async ask<T extends z.ZodType>(command: Command, answer: T): Promise<z.infer<T>> {
    const line = this.#nextLine();
    this.#process?.stdin.write(`${JSON.stringify(command)}\n`);
    return parse(await line, answer);
  }

  async close(): Promise<void> {
    if (!this.#process) return;
    const child = this.#process;
    child.stdin.end();
    const killer = setTimeout(() => child.kill('SIGKILL'), DOWN_LIMIT_MS);
    await this.#ended;
    clearTimeout(killer);
  }

  #nextLine(): Promise<string> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.splice(0)) reject(this.#failure);
  }
}

/** The program's own error line, picked from among warnings and other output. */
const complaintIn = (text: string): string | undefined =>
  text.split('\n').find((line) => line.startsWith('hopwise-lab: '));

function parse<T extends z.ZodType>(line: string, schema: T): z.infer<T> {
  const answer: unknown = JSON.parse(line);
  const failed = z.object({ error: z.string() }).safeParse(answer);
  if (failed.success) throw new Error(`lab: ${failed.data.error}`);
  return schema.parse(answer);
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
