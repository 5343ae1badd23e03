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

const bounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/** Longer keys are stored as their SHA-256, so that a key never takes much memory. */
const keyLengthMax = 64;
const stored = (key: string): string => (key.length <= keyLengthMax ? key : hash('sha256', key, 'base64url'));

/** Creates a counter with windows of `windowMs` on the monotonic clock. */
export function createWindowCounter(windowMs: number, nowMs = () => performance.now()): WindowCounter {
  const windows = new BoundedMap<{ count: number; readonly endsAtMs: number }>({
    name: 'request_windows',
    ...bounds,
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

/** Part of a limit that this process may use without asking. */
interface Lease {
  /** The count in all processes when the lease began. */
  readonly before: number;
  readonly size: number;
  readonly endsAtMs: number;
  used: number;
}

/** A process leases this part of a limit at a time; a limit below it is counted one by one. */
const leasesPerLimit = 100;

/**
 * Counts in windows that several processes share: each asks the counting one for a hundredth of the
 * limit at a time (`take`), so that most requests wait for no other process. The sum never exceeds
 * the limit; what a process leases and does not use is lost, at most a hundredth of the limit.
 */
export class LeasedCounter {
  readonly #take: (key: string, by: number) => Promise<WindowCount>;
  readonly #nowMs: () => number;
  readonly #leases: BoundedMap<Lease>;
  /** Keys for which the other process has been asked. */
  readonly #asked = new Map<string, Promise<void>>();

  constructor(take: (key: string, by: number) => Promise<WindowCount>, nowMs = () => performance.now()) {
    this.#take = take;
    this.#nowMs = nowMs;
    this.#leases = new BoundedMap<Lease>({ name: 'request_windows', ...bounds, nowMs });
  }

  /** Adds one; `undefined` if the other process must be asked. */
  tryAdd(key: string, limit: number): WindowCount | undefined {
    const lease = this.#leases.get(key);
    if (lease === undefined) return undefined;
    // once a count exceeds the limit, all later ones of the window do
    if (lease.used === lease.size && lease.before + lease.used <= limit) return undefined;
    if (lease.used < lease.size) lease.used += 1;
    return { count: lease.before + lease.used, msLeft: lease.endsAtMs - this.#nowMs() };
  }

  /** Adds one, after asking the other process if necessary. */
  async add(key: string, limit: number): Promise<WindowCount> {
    for (;;) {
      const counted = this.tryAdd(key, limit);
      if (counted !== undefined) return counted;
      await (this.#asked.get(key) ?? this.#ask(key, Math.ceil(limit / leasesPerLimit)));
    }
  }

  #ask(key: string, size: number): Promise<void> {
    const asked = this.#take(key, size)
      .then(({ count, msLeft }) => {
        const lease = { before: count - size, size, endsAtMs: this.#nowMs() + msLeft, used: 0 };
        this.#leases.set(key, lease, msLeft);
      })
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }
}
