import { RequestError } from './error.ts';

/** Bounds of work that each holds a connection of the store for as long as its client takes. */
interface SlotLimits {
  /** Under way in this process at most. */
  readonly max: number;
  /** Under way for one client at most. */
  readonly perClientMax: number;
  /** Under way for all clients of one tenant at most; as many as there are when left out. */
  readonly perTenantMax?: number;
}

/** Bounds of whole reports that are streamed. */
export interface ExportLimits extends SlotLimits {
  /**
   * Longest time in which nothing of an export moves, in milliseconds: its reader stopped reading.
   */
  readonly stallMs: number;
  /** Longest time for a whole export, in milliseconds. */
  readonly durationMs: number;
  /**
   * Bytes a second that a reader must take on average, measured once it has kept the export waiting
   * for `stallMs` in all; 0 is no limit.
   */
  readonly rateMin: number;
}

/** Seconds after which it is worth trying again when every slot is taken. */
const retryAfterSeconds = '10';

/**
 * Takes a slot for a client of a tenant and returns the function that frees it; throws
 * `RequestError` when there is none.
 */
type TakeSlot = (clientId: string, tenant: string) => () => void;

/**
 * Makes the slots of one process for work of one kind, a verb; `advice` is what else a client can
 * do than wait.
 */
export function createSlots(limits: SlotLimits, verb: 'export' | 'load', advice = ''): TakeSlot {
  const { max, perClientMax, perTenantMax = max } = limits;
  const taken = new Map<string, number>();
  const count = (key: string, by: 1 | -1): void => {
    const n = (taken.get(key) ?? 0) + by;
    if (n === 0) taken.delete(key);
    else taken.set(key, n);
  };
  const requireFree = (key: string, keyMax: number, code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', rule: string): void => {
    if ((taken.get(key) ?? 0) < keyMax) return;
    throw new RequestError(code, `Cannot ${verb} now: ${rule}; wait as long as Retry-After says${advice}`, {
      headers: { 'retry-after': retryAfterSeconds },
    });
  };
  return (clientId, tenant) => {
    const [ofClient, ofTenant, ofAll] = [`client ${clientId}`, `tenant ${tenant}`, 'all'];
    const rule = (who: string, n: number): string => `${who} must have at most ${n} ${verb}s under way`;
    requireFree(ofClient, perClientMax, 'TOO_MANY_REQUESTS', rule('a client', perClientMax));
    requireFree(ofTenant, perTenantMax, 'TOO_MANY_REQUESTS', rule('all clients of a tenant together', perTenantMax));
    requireFree(ofAll, max, 'UNAVAILABLE', `all ${verb}s of this service are under way already`);
    const keys = [ofClient, ofTenant, ofAll];
    for (const key of keys) count(key, 1);
    return () => {
      for (const key of keys.splice(0)) count(key, -1); // once, however often it is called
    };
  };
}
