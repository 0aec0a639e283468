import type { PlainKey } from '../../language/translate.ts';
import type { WhatIfNetwork } from '../emulation/what-if.ts';

interface NamedNetwork {
  id: string;
  title: PlainKey;
  network: WhatIfNetwork;
}

const CABLE: WhatIfNetwork = {
  rttMs: 28,
  downMbps: 40,
  upMbps: 8,
  loss: 0,
  lossBurst: 1,
  queueMs: 150,
  udp: 'open',
};

/** Networks to ask about, in the figures of the lab's profiles of these names: `lab/networks.json` has their sources. */
export const NAMED_NETWORKS: readonly NamedNetwork[] = [
  {
    id: 'fast',
    title: 'netFibre',
    network: {
      rttMs: 10,
      downMbps: 100,
      upMbps: 50,
      loss: 0,
      lossBurst: 1,
      queueMs: 50,
      udp: 'open',
    },
  },
  {
    id: 'cable',
    title: 'netCable',
    network: CABLE,
  },
  {
    id: 'dsl',
    title: 'netDsl',
    network: {
      rttMs: 50,
      downMbps: 10,
      upMbps: 1,
      loss: 0.0005,
      lossBurst: 1,
      queueMs: 200,
      udp: 'open',
    },
  },
  {
    id: 'lte',
    title: 'netLteGood',
    network: {
      rttMs: 70,
      downMbps: 12,
      upMbps: 12,
      loss: 0.001,
      lossBurst: 1,
      queueMs: 200,
      udp: 'open',
    },
  },
  {
    id: 'lte-poor',
    title: 'netLtePoor',
    network: {
      rttMs: 170,
      downMbps: 4,
      upMbps: 1,
      loss: 0.01,
      lossBurst: 2,
      queueMs: 400,
      udp: 'open',
    },
  },
  {
    id: '3g',
    title: 'net3g',
    network: {
      rttMs: 300,
      downMbps: 1.6,
      upMbps: 0.768,
      loss: 0.002,
      lossBurst: 1,
      queueMs: 500,
      udp: 'open',
    },
  },
  {
    id: 'satellite',
    title: 'netSatellite',
    network: {
      rttMs: 600,
      downMbps: 25,
      upMbps: 3,
      loss: 0.001,
      lossBurst: 1,
      queueMs: 600,
      udp: 'open',
    },
  },
  {
    id: 'slow',
    title: 'netSlow4g',
    network: {
      rttMs: 150,
      downMbps: 1.6,
      upMbps: 0.75,
      loss: 0,
      lossBurst: 1,
      queueMs: 300,
      udp: 'open',
    },
  },
  {
    id: 'lossy',
    title: 'netCableLossy',
    network: {
      rttMs: 50,
      downMbps: 20,
      upMbps: 5,
      loss: 0.02,
      lossBurst: 1,
      queueMs: 100,
      udp: 'open',
    },
  },
  {
    id: 'wifi-bursty',
    title: 'netWifi',
    network: {
      rttMs: 32,
      downMbps: 20,
      upMbps: 8,
      loss: 0.02,
      lossBurst: 6,
      queueMs: 150,
      udp: 'open',
    },
  },
  {
    id: 'udp-policed',
    title: 'netPoliced',
    network: { ...CABLE, udp: 2 },
  },
  {
    id: 'udp-blocked',
    title: 'netUdpBlocked',
    network: { ...CABLE, udp: 'blocked' },
  },
];
