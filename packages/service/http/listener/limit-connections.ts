import { BlockList, isIPv6, type Server, type Socket } from 'node:net';
import { networkOf } from '../../auth/network.ts';

interface ConnectionLimit {
  /** Maximum open connections to this process from one address, or one IPv6 network of 64 bits. */
  readonly max: number;
  /** Addresses and networks without a limit. */
  readonly exempt: readonly string[];
  /** Responds on a connection beyond the limit, and closes it. */
  readonly refuse: (socket: Socket) => void;
}

/**
 * Refuses connections from an address that has too many open, so that one client cannot exhaust
 * file descriptors and memory by idling.
 */
export function limitConnections(server: Server, { max, exempt, refuse }: ConnectionLimit): void {
  const isExempt = createAddressList(exempt);
  // bounded by the open connections of the process
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isExempt(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
    if (count > max) refuse(socket);
  });
}

/** Makes the check whether an address is in a list of addresses and networks (`10.0.0.0/8`). */
function createAddressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const type = familyOf(address);
    if (prefix === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(prefix), type);
  }
  // also matches an IPv4 address that is mapped into IPv6
  return (address) => list.check(address, familyOf(address));
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');
