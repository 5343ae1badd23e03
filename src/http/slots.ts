import { RequestError } from './error.ts';

/** Bounds of work that each holds a connection of the store for as long as its client takes. */
export interface SlotLimits {
  /** Under way in this process at most. */
  readonly max: number;
  /** Under way for one client at most. */
  readonly perClientMax: number;
}

/** Bounds of whole reports that are streamed. */
export interface ExportLimits extends SlotLimits {
  /** Longest time in which nothing of an export moves, in milliseconds: its reader stopped reading. */
  readonly stallMs: number;
  /** Longest time for a whole export, in milliseconds. */
  readonly durationMs: number;
}

/** Seconds after which it is worth trying again when every slot is taken. */
const retryAfterSeconds = '10';

/** Takes a slot for a client and gives the function that frees it; fails with `RequestError` when there is none. */
export type TakeSlot = (clientId: string) => () => void;

/** Makes the slots of one process for work of one kind, a verb; `advice` is what else a client can do than wait. */
export function createSlots({ max, perClientMax }: SlotLimits, verb: 'export' | 'load', advice = ''): TakeSlot {
  const byClient = new Map<string, number>();
  let taken = 0;
  const refusal = (code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', reason: string): RequestError =>
    new RequestError(code, `Cannot ${verb} now: ${reason}; wait as long as Retry-After says${advice}`, {
      'retry-after': retryAfterSeconds,
    });
  return (clientId) => {
    const own = byClient.get(clientId) ?? 0;
    if (own >= perClientMax) {
      throw refusal('TOO_MANY_REQUESTS', `a client must have at most ${perClientMax} ${verb}s under way`);
    }
    if (taken >= max) throw refusal('UNAVAILABLE', `all ${verb}s of this service are under way already`);
    taken += 1;
    byClient.set(clientId, own + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      taken -= 1;
      const rest = (byClient.get(clientId) ?? 1) - 1;
      if (rest === 0) byClient.delete(clientId);
      else byClient.set(clientId, rest);
    };
  };
}
