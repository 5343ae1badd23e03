import { isIPv6 } from 'node:net';

/**
 * Returns the network by which an address is counted: an IPv4 address itself; the first 64 bits of
 * an IPv6 address, as one host has all addresses of such a network (RFC 4291 §2.5.4).
 *
 * @example networkOf('2001:db8::1:2:3:4') // '2001:db8:0:0::/64'
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%'); // a zone of a link-local address
  if (!isIPv6(plain)) return plain;
  const [before = '', after] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const first = before === '' ? [] : before.split(':');
  const last = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last];
  const mapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff';
  return mapped ? toIpv4(groups) : `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the IPv4 address that is mapped into an IPv6 address (RFC 4291 §2.5.5.2). */
function toIpv4(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return bytes.join('.');
}
