import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { toExtension, toHost } from '@hopwise/contract';
import { buildGraph, parseRecording, transferPlan } from '@hopwise/pageload-emulator';
import { HelperError } from '../../../../extension/src/helper/helper-port.ts';
import { PartsJoiner } from '../../../../extension/src/helper/verify-with-helper.ts';
import { FrameError, frame, readFrames } from '../../../../native-host/src/base/framing.ts';
import { controlAnswer } from '../../../../native-host/src/control/control-messages.ts';
import { ControlServer } from '../../../../native-host/src/control/control-server.ts';
import {
  ExchangeFrameError,
  encodeFrame as exchangeFrame,
  FRAME,
  FrameReader,
  jsonPayload,
} from '../../../../native-host/src/exchange/exchange-frames.ts';
import { hear } from '../../../../native-host/test/pins/proxy/support/peers.ts';
import { chromiumHar } from '../../../../pageload-emulator/test/support/hars.ts';
import { type FuzzTarget, hold, parsed } from '../target.ts';

const ORIGIN = 'https://shop.test';

/** An input is what a browser or a helper writes to the pipe, in chunks of a length that its last byte gives. */
export const nativeMessages: FuzzTarget = {
  title: 'native messaging: frames and the messages in them, in both directions',
  input: 'bytes',
  dictionary: ['"type":"probe"', '"type":"pin"', '"origin":', '"__proto__":', '\0\0\0\0', '\xff\xff\xff\xff'],
  seeds() {
    const recording = parseRecording(chromiumHar());
    return [
      { type: 'hello', id: '1', version: 3 },
      { type: 'cancel', id: '1' },
      { type: 'pin', id: '2', origin: ORIGIN, kind: 'h2', minutes: 60, persistent: false },
      { type: 'unpin', id: '3', origin: ORIGIN },
      {
        type: 'probe',
        id: '4',
        plan: transferPlan(buildGraph(recording), recording, 'agent'),
        protocols: ['h2', 'h3'],
        rounds: 2,
        budgetBytes: null,
      },
      { type: 'probe-result', id: '4', part: 0, parts: 1, json: '{}' },
      { type: 'error', id: '4', code: 'busy', message: 'another probe is running' },
    ].map((message) => frame(message));
  },
  open: () => ({
    async run(input) {
      const length = Math.max(1, input.at(-1) ?? 1);
      const chunks = Array.from({ length: Math.ceil(input.length / length) }, (_, index) =>
        Buffer.from(input.subarray(index * length, (index + 1) * length)),
      );
      try {
        for await (const value of readFrames(Readable.from(chunks))) await checkMessage(value);
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
      }
    },
  }),
};

async function checkMessage(value: unknown): Promise<void> {
  for await (const again of readFrames(Readable.from([frame(value)]))) {
    hold(isDeepStrictEqual(again, JSON.parse(JSON.stringify(value))), 'a message is read as it was written');
  }
  for (const schema of [toHost, toExtension]) {
    const { success, data } = schema.safeParse(value);
    if (!success) continue;
    hold(schema.safeParse(data).success, 'a message that was read is one');
    if (data.type === 'probe-result') joinPart(data);
  }
}

function joinPart(part: Parameters<PartsJoiner['add']>[0]): void {
  try {
    new PartsJoiner().add(part);
  } catch (error) {
    if (!(error instanceof HelperError)) throw error;
  }
}

/** What the engine's process and the host send each other. */
export const exchangeFrames: FuzzTarget = {
  title: "frames between the helper and the engine's process",
  input: 'bytes',
  seeds: () => [
    Buffer.concat([
      exchangeFrame(FRAME.HEAD, 1, jsonPayload({ status: 200, headers: [['a', 'b']] })),
      exchangeFrame(FRAME.BODY, 1, Buffer.from('body')),
      exchangeFrame(FRAME.END, 1, jsonPayload([])),
    ]),
  ],
  open: () => ({
    run(input) {
      let bytes = 0;
      const handler = {
        onFrame: (_kind: number, _exchange: number, payload: Buffer) => {
          bytes += payload.length;
        },
        onBody: (_exchange: number, piece: Buffer) => {
          bytes += piece.length;
        },
      };
      parsed(() => new FrameReader(handler).push(Buffer.from(input)), ExchangeFrameError);
      hold(bytes <= input.length, 'frames hold no more than has arrived');
    },
  }),
};

/** A connection to the control socket that sends the input. */
export const control: FuzzTarget = {
  title: 'the control socket',
  input: 'bytes',
  dictionary: ['"type":"status"', '"type":"unpin"', '"version":1', '"origin":null', '\xff\xff\xff\xff'],
  seeds: () =>
    [
      { type: 'status', version: 1 },
      { type: 'status', version: 2 },
      { type: 'unpin', version: 1, origin: null },
      { type: 'pin', version: 1, origin: ORIGIN, kind: 'h3', minutes: null, persistent: true },
    ].map((message) => frame(message)),
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-fuzz-'));
    const server = new ControlServer({
      answer: async () => ({ type: 'status', browser: 'chromium', pins: [], unpinned: [] }),
      log: () => {},
      folder,
    });
    await server.listen();
    const path = join(folder, readdirSync(folder)[0]!);
    return {
      async run(input) {
        const socket = connect(path);
        const heard = hear(socket);
        socket.end(input);
        const { bytes } = await heard;
        if (bytes.length === 0) return;
        for await (const answer of readFrames(Readable.from([bytes]))) controlAnswer.parse(answer);
      },
      async close() {
        await server.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};
