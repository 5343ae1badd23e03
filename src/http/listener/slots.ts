import { RequestError } from './error.ts';

/**
 * Limits of concurrent exports or loads. Each holds a database connection until it ends, and a slow
 * client can make it last long.
 */
interface SlotLimits {
  /** Maximum in this process. */
  readonly max: number;
  /** Maximum per client. */
  readonly perClientMax: number;
  /** Maximum of all clients of a tenant; `max` if absent. */
  readonly perTenantMax?: number;
  /** Receives the number in progress whenever it changes. */
  readonly onCount?: ((inProgress: number) => void) | undefined;
}

/** Limits of streamed exports. */
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
 * a rejection.
 */
export function createSlots(limits: SlotLimits, verb: 'export' | 'load', advice = ''): TakeSlot {
  const { max, perClientMax, perTenantMax = max, onCount } = limits;
  const taken = new Map<string, number>();
  const count = (key: string, by: 1 | -1): void => {
    const n = (taken.get(key) ?? 0) + by;
    if (n === 0) taken.delete(key);
    else taken.set(key, n);
  };
  const requireFree = (key: string, keyMax: number, code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', rule: string): void => {
    if ((taken.get(key) ?? 0) < keyMax) return;
    throw new RequestError(code, `Cannot ${verb} now: ${rule}; wait for Retry-After seconds${advice}`, {
      headers: { 'retry-after': retryAfterSeconds },
    });
  };
  return (clientId, tenant) => {
    const [ofClient, ofTenant, ofAll] = [`client ${clientId}`, `tenant ${tenant}`, 'all'];
    const rule = (who: string, n: number): string => `${who} must have at most ${n} ${verb}s in progress`;
    requireFree(ofClient, perClientMax, 'TOO_MANY_REQUESTS', rule('a client', perClientMax));
    requireFree(ofTenant, perTenantMax, 'TOO_MANY_REQUESTS', rule('all clients of a tenant', perTenantMax));
    requireFree(ofAll, max, 'UNAVAILABLE', `the service has reached its number of concurrent ${verb}s`);
    const keys = [ofClient, ofTenant, ofAll];
    for (const key of keys) count(key, 1);
    onCount?.(taken.get(ofAll) ?? 0);
    return () => {
      for (const key of keys.splice(0)) count(key, -1); // once, however often it is called
      onCount?.(taken.get(ofAll) ?? 0);
    };
  };
}
