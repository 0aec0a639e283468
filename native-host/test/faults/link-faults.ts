import type { FaultyLink } from './faulty-link.ts';
import type { CasePlan } from './plan.ts';
import type { Servers } from './servers.ts';

/** Share of the packets that are lost, or damaged. */
const PACKET_SHARE = 0.1;

/** Applies a case's fault to its link, if it is a fault of links. Resolves once a temporary fault is over. */
export function befallLink(plan: CasePlan, link: FaultyLink, servers: Servers): Promise<void> {
  const { fault, lastsMs, pin } = plan;
  const passes = (heal: () => void): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(() => {
        heal();
        resolve();
      }, lastsMs);
    });
  switch (fault) {
    case 'reset':
      link.reset();
      break;
    case 'cut':
      link.cut();
      break;
    case 'half-close-up':
      link.halfClose('up');
      break;
    case 'half-close-down':
      link.halfClose('down');
      break;
    case 'garbage-up':
      link.garbage('up');
      break;
    case 'garbage-down':
      link.garbage('down');
      break;
    case 'stall':
      link.stall();
      return passes(() => link.resume());
    case 'hang':
      link.stall();
      break;
    case 'down':
      link.isDown = true;
      link.reset();
      return passes(() => {
        link.isDown = false;
      });
    case 'packet-gap':
      link.packetLoss = 1;
      return passes(() => {
        link.packetLoss = 0;
      });
    case 'packets-gone':
      link.packetLoss = 1;
      break;
    case 'packets-lost':
      link.packetLoss = PACKET_SHARE;
      break;
    case 'packets-policed':
      link.police();
      break;
    case 'packets-damaged':
      link.packetDamage = PACKET_SHARE;
      link.garbage('up');
      link.garbage('down');
      break;
    case 'other-certificate':
      link.moveTo(servers.stranger.port);
      break;
    case 'expired-certificate':
      link.moveTo(servers.expired.port);
      break;
    case 'protocol-gone':
      link.moveTo(servers.without(pin).port);
  }
  return Promise.resolve();
}
