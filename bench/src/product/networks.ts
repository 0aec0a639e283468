/** The networks of benches that visit pages with the whole product. */
import { type NetworkProfile, profileNamed, readProfiles } from '@hopwise/lab/client/networks';

/** Besides those of `lab/networks.json`. */
const FURTHER: Readonly<Record<string, NetworkProfile>> = {
  far: {
    title: 'Fibre, servers on another continent',
    rttMs: 160,
    downMbps: 50,
    upMbps: 20,
    loss: 0.0005,
    lossBurst: 1,
    queue: { ms: 100 },
    udp: 'open',
    source: {
      rttMs:
        'assumed: 9,000 km in a straight line, at two thirds of the speed of light 90 ms there and back, on a way that is 1.8 times as long',
      downMbps: 'assumed: half of what fibre lines have in the median (see `fast` in lab/networks.json)',
      upMbps: 'assumed',
      loss: 'assumed: well below the 0.4% that the FCC’s Measuring Broadband America reports take for low loss',
      queue: 'assumed: a home router with moderate buffers',
    },
  },
};

/** @throws with one line that lists the known names */
export const networkNamed = (name: string): NetworkProfile =>
  profileNamed(name, { ...readProfiles(), ...FURTHER });
