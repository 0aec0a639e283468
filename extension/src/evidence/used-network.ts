import { isLocalAddress, type Recording } from '@hopwise/contract';

/** `local`: requests went to this machine or a private address; `none`: nothing was requested over a network. */
export type UsedNetwork = 'internet' | 'local' | 'none';

/** Which network a load used. */
export function usedNetwork({ requests }: Pick<Recording, 'requests'>): UsedNetwork {
  const sent = requests.filter(({ fromCache, protocol, status }) => !fromCache && protocol && status !== 0);
  if (sent.length === 0) return 'none';
  return sent.some(({ remoteIp }) => remoteIp !== null && isLocalAddress(remoteIp)) ? 'local' : 'internet';
}
