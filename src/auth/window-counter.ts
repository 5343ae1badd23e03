import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { BoundedMap } from '../storage/bounded-map.ts';

/** The count of a key in its open window, and the milliseconds until the window closes. */
export interface WindowCount {
  readonly count: number;
  readonly msLeft: number;
}

/** Counts per key in fixed windows. A count after the end of a window opens the next one. */
export interface WindowCounter {
  /** Adds one, or `by`. */
  add(key: string, by?: number): WindowCount;
  read(key: string): WindowCount;
}

/** The bounds of a memory of windows. */
export const windowBounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/** Longer keys are stored as their SHA-256, so that a key never takes much memory. */
const keyLengthMax = 64;
const stored = (key: string): string => (key.length <= keyLengthMax ? key : hash('sha256', key, 'base64url'));

/** Creates a counter with windows of `windowMs` on the monotonic clock. */
export function createWindowCounter(windowMs: number, nowMs = () => performance.now()): WindowCounter {
  const windows = new BoundedMap<{ count: number; readonly endsAtMs: number }>({
    name: 'request_windows',
    ...windowBounds,
    nowMs,
  });
  return {
    add(key, by = 1) {
      const open = windows.get(stored(key));
      if (open === undefined) {
        windows.set(stored(key), { count: by, endsAtMs: nowMs() + windowMs }, windowMs);
        return { count: by, msLeft: windowMs };
      }
      open.count += by;
      return { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
    read(key) {
      const open = windows.get(stored(key));
      return open === undefined ? { count: 0, msLeft: 0 } : { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
  };
}

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
