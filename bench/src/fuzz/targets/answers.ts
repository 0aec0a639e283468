import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from '../../../../native-host/src/engine/engine.ts';
import { ExchangeError } from '../../../../native-host/src/exchange/exchange.ts';
import { isFieldValue, isToken, responseFields } from '../../../../native-host/src/exchange/headers.ts';
import { ResponseSections } from '../../../../native-host/src/exchange/response-sections.ts';
import { HostileHttp3Origin } from '../../../../native-host/test/conformance/support/hostile-http3-origin.ts';
import { HostileTcpOrigin } from '../../../../native-host/test/conformance/support/hostile-tcp-origin.ts';
import { data, field, head } from '../../../../native-host/test/conformance/support/http2-frames.ts';
import {
  fieldLine,
  fieldSection,
  H3_FRAME,
  h3Frame,
  STATUS_103,
  STATUS_200,
} from '../../../../native-host/test/conformance/support/http3-frames.ts';
import { newAuthority } from '../../../../native-host/test/pins/terminating/support/pinned.ts';
import { ServerProgram } from '../../../../native-host/test/support/server.ts';
import { type FuzzTarget, hold, type OpenTarget } from '../target.ts';

/** Far more than inputs can unpack to. */
const BODY_BYTES = 64 * 1024 * 1024;
/** An engine that waits for more of an answer is asked to give up. */
const PATIENCE_MS = 500;

const H1_ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nright',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: t\r\n\r\n5\r\nright\r\n0\r\nt: u\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: <a>; rel=preload\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n folded\r\n\r\n',
];
const H1_WORDS = [
  'HTTP/1.1 ',
  'HTTP/1.0 ',
  '\r\n',
  '\r\n\r\n',
  'Content-Length: ',
  'Transfer-Encoding: chunked',
  'Connection: ',
  'gzip',
  '0\r\n\r\n',
  '100',
  '101',
  '103',
];

/** The lines of an input, as libcurl passes them on. */
export const responseSections: FuzzTarget = {
  title: "lines of libcurl's headers",
  input: 'bytes',
  dictionary: H1_WORDS,
  seeds: () => H1_ANSWERS.map((answer) => Buffer.from(answer)),
  open: () => ({
    run(input) {
      const sections = new ResponseSections();
      for (const line of Buffer.from(input)
        .toString('latin1')
        .split(/(?<=\n)/)) {
        const section = sections.line(line);
        if (!section) continue;
        hold(section.status >= 0 && section.status <= 999, 'a status has three digits');
        try {
          responseFields(section.headers);
        } catch (error) {
          hold(
            (error as Error).message === 'a response with two lengths',
            'only differing lengths are refused',
          );
        }
      }
    },
  }),
};

/** An origin whose next answer can be set. */
interface Origin {
  port: number;
  caFile: string;
  show(answer: Uint8Array): Promise<void> | void;
  close(): Promise<void>;
}

/** Asks a hostile origin through an engine: the answer is one that can be forwarded, or the exchange fails as declared. */
async function openExchange(protocol: 'h1' | 'h2' | 'h3', origin: Origin): Promise<OpenTarget> {
  process.env.HOPWISE_CA_FILE = origin.caFile;
  const engine = new Engine();
  await engine.start();
  const enginePid = await engine.pid();
  return {
    async run(input) {
      await origin.show(input);
      const url = `https://localhost:${origin.port}/`;
      const exchange = engine.exchange({
        protocol,
        from: 'loopback',
        method: 'GET',
        url,
        headers: [],
        body: null,
      });
      const giveUp = setTimeout(() => exchange.cancel(), PATIENCE_MS);
      let bytes = 0;
      try {
        const { status, headers } = await exchange.head;
        hold(status >= 200 && status <= 999, 'a final response has a final status');
        for (const [name, value] of headers) {
          hold(isToken(name) && isFieldValue(value), 'fields can be forwarded');
        }
        for await (const piece of exchange.body) bytes += (piece as Buffer).length;
        await exchange.trailers;
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
      } finally {
        clearTimeout(giveUp);
        await exchange.trailers.catch(() => {});
      }
      hold(bytes <= BODY_BYTES, 'a body is not out of proportion');
      hold((await engine.pid()) === enginePid, 'the engine goes on');
    },
    async close() {
      await engine.close();
      await origin.close();
    },
  };
}

async function tcpOrigin(protocol: 'h1' | 'h2'): Promise<Origin> {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-fuzz-'));
  const { issuer, root } = await newAuthority(folder);
  const caFile = join(folder, 'root.pem');
  writeFileSync(caFile, root);
  const origin = await HostileTcpOrigin.listen(issuer, protocol);
  return {
    port: origin.port,
    caFile,
    show: (answer) => origin.show({ pieces: [answer], after: 'end' }),
    async close() {
      await origin.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function http3Origin(): Promise<Origin> {
  const program = new ServerProgram();
  const server = await program.start('-raw-http3');
  const origin = new HostileHttp3Origin(server);
  return {
    port: origin.port,
    caFile: server.caFile,
    show: (bytes) => origin.show({ answer: [{ bytes, after: 'fin' }] }),
    async close() {
      await server.stop();
      program.remove();
    },
  };
}

export const h1Answers: FuzzTarget = {
  title: 'answers of origins over HTTP/1.1',
  input: 'bytes',
  dictionary: H1_WORDS,
  seeds: () => H1_ANSWERS.map((answer) => Buffer.from(answer)),
  open: async () => openExchange('h1', await tcpOrigin('h1')),
};

export const h2Answers: FuzzTarget = {
  title: 'answers of origins over HTTP/2',
  input: 'bytes',
  seeds: () => [
    Buffer.concat([head(field('a', 'b', 64), field('content-length', '5')), data('right')]),
    Buffer.concat([head(field('set-cookie', 'a=b')), data('ri', 0), data('ght')]),
  ],
  open: async () => openExchange('h2', await tcpOrigin('h2')),
};

export const h3Answers: FuzzTarget = {
  title: 'answers of origins over HTTP/3',
  input: 'bytes',
  seeds: () => [
    Buffer.concat([
      fieldSection(STATUS_103, fieldLine('link', '<a>')),
      fieldSection(STATUS_200, fieldLine('content-length', '5')),
      h3Frame(H3_FRAME.DATA, Buffer.from('right')),
    ]),
  ],
  open: async () => openExchange('h3', await http3Origin()),
};
