import { readProfiles } from '@hopwise/lab/client/networks';
import { expect, test } from 'vitest';
import { NAMED_NETWORKS } from '../../extension/src/devtools/what-if/named-networks.ts';
import { t } from '../../extension/src/language/translate.ts';

test('the networks of the panel have the figures of the lab’s profiles', () => {
  const profiles = readProfiles();
  expect(NAMED_NETWORKS.map(({ id }) => id)).toEqual(Object.keys(profiles));
  for (const { id, title, network } of NAMED_NETWORKS) {
    const profile = profiles[id]!;
    const { rttMs, downMbps, upMbps, loss, lossBurst, queue, udp } = profile;
    const queueMs = 'ms' in queue ? queue.ms : 'bdp' in queue ? queue.bdp * rttMs : undefined;
    const held = typeof udp === 'object' ? udp.policedMbps : udp;
    expect({ title: t(title), ...network }).toEqual({
      title: profile.title,
      rttMs,
      downMbps,
      upMbps,
      loss,
      lossBurst,
      queueMs,
      udp: held,
    });
  }
});
