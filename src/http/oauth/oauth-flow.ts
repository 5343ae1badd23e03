import { hash } from 'node:crypto';
import { networkOf } from '../../auth/address-network.ts';

/** With a flow for each client id, invented ids of one network would get every turn. */
const flowsPerNetwork = 8;

/**
 * Returns the queue's flow of an OAuth request. It depends on the network, so that nobody else can
 * use up the turns of a client, and on the claimed client id.
 */
export function oauthFlow(address: string, claimedId = ''): string {
  const [byte = 0] = hash('sha256', claimedId, 'buffer');
  return `oauth ${networkOf(address)} ${byte % flowsPerNetwork}`;
}
