import type { NetworkFigure, NetworkPath, ServerProfile } from './network-path.ts';

/** Figures of the network that somebody knows; units as in `NetworkPath`. */
export type KnownNetwork = Partial<Pick<NetworkPath, NetworkFigure>>;

/** What is known of one server, over what a recording shows. */
export type KnownServer = Partial<ServerProfile> & Pick<ServerProfile, 'origin'>;
