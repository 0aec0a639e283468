/** The pinned host, which browser and helper resolve to this machine. */
export const HOST = 'a.lab.test';
