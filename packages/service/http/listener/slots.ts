import { RequestError } from './error.ts';

/**
 * Limits of concurrent exports or loads. Each holds a database connection until it ends, and a slow
 * client can make it last long.
 */
interface SlotLimits {
  /** Maximum in this process. */
  readonly max: number;
  readonly perClientMax: number;
  /** Maximum of all clients of a tenant; `max` if absent. */
  readonly perTenantMax?: number;
  /** Whether the last work of a tenant did not finish in time (`Store.isHanging`). */
  readonly isHanging?: ((tenant: string) => boolean) | undefined;
  /** The memory of the process that each takes a part of until it ends; unlimited if absent. */
  readonly memory?: TakeMemory | undefined;
  /** Receives the number in progress whenever it changes. */
  readonly onCount?: ((inProgress: number) => void) | undefined;
}

/** Memory that each export or load may take at its worst, in bytes. */
const workBytes = { export: 8_388_608, load: 25_165_824, scan: 1_048_576 };

/**
 * Takes some bytes of the memory that exports and loads of a process share, and returns the
 * function that frees them; `undefined` if there are too few. The first one always gets them, so
 * that a small process does one thing at a time.
 */
export type TakeMemory = (bytes: number) => (() => void) | undefined;

export function createMemoryBudget(bytesMax: number): TakeMemory {
  let taken = 0;
  return (bytes) => {
    if (taken > 0 && taken + bytes > bytesMax) return undefined;
    taken += bytes;
    return () => {
      taken -= bytes;
    };
  };
}

export interface ExportLimits extends SlotLimits {
  /** Longest time without progress of an export, in milliseconds: its client stopped reading. */
  readonly stallMs: number;
  /** Time limit of an export, in milliseconds. */
  readonly durationMs: number;
  /**
   * Bytes per second that a client must read on average, checked once it has kept the export
   * waiting for `stallMs` in total; 0 means no limit.
   */
  readonly rateMin: number;
}

/** Seconds after which a client should retry if all slots are taken. */
const retryAfterSeconds = '10';

/**
 * Takes a slot for a client of a tenant, and returns the function that frees it. Throws
 * `RequestError` if none is free.
 */
type TakeSlot = (clientId: string, tenant: string) => () => void;

/**
 * Creates the slots of one process for one kind of work; `advice` is appended to the message of
 * a rejection. A tenant that hangs has one at most, and its slots are not taken from others.
 */
export function createSlots(limits: SlotLimits, verb: keyof typeof workBytes, advice = ''): TakeSlot {
  const { max, perClientMax, perTenantMax = max, memory, onCount, isHanging = () => false } = limits;
  const taken = new Map<string, number>();
  const count = (key: string, by: 1 | -1): void => {
    const n = (taken.get(key) ?? 0) + by;
    if (n === 0) taken.delete(key);
    else taken.set(key, n);
  };
  const refusal = (code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', rule: string): RequestError =>
    new RequestError(code, `Cannot ${verb} now: ${rule}; wait for Retry-After seconds${advice}`, {
      headers: { 'retry-after': retryAfterSeconds },
    });
  const requireFree = (key: string, keyMax: number, code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', rule: string): void => {
    if ((taken.get(key) ?? 0) >= keyMax) throw refusal(code, rule);
  };
  /** How many slots the tenants have that hang, or those that do not. */
  const countOf = (hangs: boolean): number => {
    let n = 0;
    for (const [key, count] of taken)
      if (key.startsWith('tenant ') && isHanging(key.slice('tenant '.length)) === hangs) n += count;
    return n;
  };
  return (clientId, tenant) => {
    const [ofClient, ofTenant, ofAll] = [`client ${clientId}`, `tenant ${tenant}`, 'all'];
    const rule = (who: string, n: number): string => `${who} must have at most ${n} ${verb}s in progress`;
    requireFree(ofClient, perClientMax, 'TOO_MANY_REQUESTS', rule('a client', perClientMax));
    requireFree(ofTenant, perTenantMax, 'TOO_MANY_REQUESTS', rule('all clients of a tenant', perTenantMax));
    const hangs = isHanging(tenant);
    if (hangs) requireFree(ofTenant, 1, 'UNAVAILABLE', 'the database must respond for this tenant');
    if (countOf(hangs) >= max)
      throw refusal('UNAVAILABLE', `the service has reached its number of concurrent ${verb}s`);
    const freeMemory = memory === undefined ? () => undefined : memory(workBytes[verb]);
    if (freeMemory === undefined)
      throw refusal('UNAVAILABLE', 'the exports and loads in progress must leave memory for another one');
    const keys = [ofClient, ofTenant, ofAll];
    for (const key of keys) count(key, 1);
    onCount?.(taken.get(ofAll) ?? 0);
    return () => {
      if (keys.length > 0) freeMemory();
      for (const key of keys.splice(0)) count(key, -1); // once, however often it is called
      onCount?.(taken.get(ofAll) ?? 0);
    };
  };
}
