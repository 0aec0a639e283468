/** Bodies of which nothing comes for longer than any idle timeout between browser and origin, in both directions, through each pin. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer2, ask1, ask2 } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

const IDLE_MS = 65_000;

let served: ServedPins;

beforeAll(async () => {
  served = await servePins();
});

afterAll(() => served.stop());

describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
  beforeAll(() => served.pinned.pin(served.server.port, protocol));

  it('arrive whole', async () => {
    const { pinned, server } = served;
    const path = `/pause/${IDLE_MS}`;
    const session = await pinned.http2(server.port);
    const socket = await pinned.connect(server.port, 'http/1.1');
    const upload = session.request({ ':path': '/digest', ':method': 'POST' }, { endStream: false });
    upload.write('first');
    const answers = [
      ask2(session, { ':path': path }),
      ask1(socket, { path, headers: { host: `localhost:${server.port}` } }),
      answer2(upload),
    ];
    await sleep(IDLE_MS);
    upload.end(' last');
    const [over2, over1, uploaded] = await Promise.all(answers);
    expect([over2!.body.toString(), over1!.body.toString()]).toEqual(['ab', 'ab']);
    expect(JSON.parse(uploaded!.body.toString())).toMatchObject({ bytes: 10, whole: true });
    expect(pinned.lifted).toEqual([]);
    session.destroy();
    socket.destroy();
  }, 120_000);
});
