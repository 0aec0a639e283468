import type { WhatIfNetwork } from '../emulation/what-if.ts';

export interface NamedNetwork {
  id: string;
  title: string;
  network: WhatIfNetwork;
}

/** Networks to ask about, in the figures of the lab's profiles of these names: `lab/networks.json` has their sources. */
export const NAMED_NETWORKS: readonly NamedNetwork[] = [
  {
    id: 'fast',
    title: 'Fibre',
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
    title: 'Cable',
    network: {
      rttMs: 28,
      downMbps: 40,
      upMbps: 8,
      loss: 0,
      lossBurst: 1,
      queueMs: 150,
      udp: 'open',
    },
  },
  {
    id: 'dsl',
    title: 'DSL',
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
    title: 'LTE, good reception',
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
    title: 'LTE, poor reception',
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
    title: '3G',
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
    title: 'Geostationary satellite',
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
    title: 'Slow 4G',
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
    title: 'Cable with 2% loss',
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
    title: 'Cable behind a disturbed Wi-Fi',
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
    title: 'Cable, UDP policed at 2 Mbit/s',
    network: {
      rttMs: 28,
      downMbps: 40,
      upMbps: 8,
      loss: 0,
      lossBurst: 1,
      queueMs: 150,
      udp: 2,
    },
  },
  {
    id: 'udp-blocked',
    title: 'Cable, UDP blocked',
    network: {
      rttMs: 28,
      downMbps: 40,
      upMbps: 8,
      loss: 0,
      lossBurst: 1,
      queueMs: 150,
      udp: 'blocked',
    },
  },
];
