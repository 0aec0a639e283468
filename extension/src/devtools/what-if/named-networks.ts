import {
  NAMED_NETWORKS as FIGURES,
  NETWORK_NAMES,
  type NetworkFigures,
  type NetworkName,
} from '@hopwise/pageload-emulator';
import type { PlainKey } from '../../language/translate.ts';

interface NamedNetwork {
  id: NetworkName;
  title: PlainKey;
  network: NetworkFigures;
}

const TITLES: Readonly<Record<NetworkName, PlainKey>> = {
  fast: 'netFibre',
  cable: 'netCable',
  dsl: 'netDsl',
  lte: 'netLteGood',
  'lte-poor': 'netLtePoor',
  '3g': 'net3g',
  satellite: 'netSatellite',
  slow: 'netSlow4g',
  lossy: 'netCableLossy',
  'wifi-bursty': 'netWifi',
  'udp-policed': 'netPoliced',
  'udp-blocked': 'netUdpBlocked',
};

/** Networks to ask about: those that command lines take by name. */
export const NAMED_NETWORKS: readonly NamedNetwork[] = NETWORK_NAMES.map((id) => ({
  id,
  title: TITLES[id],
  network: FIGURES[id],
}));
