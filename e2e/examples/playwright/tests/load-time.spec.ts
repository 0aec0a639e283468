import { expect, type LoadsByProtocol, PROTOCOLS, test } from '@hopwise/e2e/playwright';

const PAGE = 'pages/app.json.gz';

test.describe('on a cable line', () => {
  for (const protocol of PROTOCOLS) {
    test(`${protocol} loads in 5 s`, async ({ load }) => {
      const loaded = await load({ protocol });
      expect(loaded).toUseProtocol(protocol);
      expect(loaded.failed).toEqual([]);
      expect(loaded).toLoadWithin(5_000);
    });
  }
});

test.describe('in a test of its own steps', () => {
  test.use({ replay: { page: PAGE, network: 'cable', protocol: 'h3' } });

  test('replayPage is on the same line and protocol', async ({ replayPage, replayUrl }) => {
    await replayPage.goto(replayUrl);
    const navigation = await replayPage.evaluate(() =>
      performance.getEntriesByType('navigation')[0]?.toJSON(),
    );
    expect(navigation).toMatchObject({ nextHopProtocol: 'h3' });
  });
});

test.describe('on a line that holds UDP to 2 Mbit/s', () => {
  test.use({ replay: { page: PAGE, network: 'udp-policed' } });

  test('loads in 10 s under each protocol, and hopwise chooses the fastest', async ({ load, prediction }) => {
    const loads: LoadsByProtocol = {};
    for (const protocol of PROTOCOLS) {
      const loaded = await load({ protocol });
      expect(loaded).toLoadWithin(10_000);
      loads[protocol] = loaded;
    }
    // One load each on a CI machine: h1 and h2 may change places, h3 must not be chosen.
    expect(prediction).toChooseFastest(loads, { margin: 0.5 });
  });
});
