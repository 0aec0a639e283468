/** The host that is pinned, one of those that browser and helper take for this machine. */
export const HOST = 'a.lab.test';
