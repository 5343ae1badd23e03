import { RequestError } from './error.ts';

/** Bounds of whole reports that are streamed; each holds a connection and a moment of the store. */
export interface ExportLimits {
  /** Exports under way in this process at most. */
  readonly max: number;
  /** Exports under way for one client at most. */
  readonly perClientMax: number;
  /** Longest time in which nothing of an export moves, in milliseconds: its reader stopped reading. */
  readonly stallMs: number;
  /** Longest time for a whole export, in milliseconds. */
  readonly durationMs: number;
}

/** Seconds after which it is worth trying again when every slot is taken. */
const retryAfterSeconds = '10';

/** Takes a slot for an export of a client and gives the function that frees it; fails with `RequestError` when there is none. */
export type TakeExportSlot = (clientId: string) => () => void;

/** Makes the slots of one process. */
export function createExportSlots({ max, perClientMax }: ExportLimits): TakeExportSlot {
  const byClient = new Map<string, number>();
  let taken = 0;
  return (clientId) => {
    const own = byClient.get(clientId) ?? 0;
    if (own >= perClientMax) {
      throw refusal('TOO_MANY_REQUESTS', `a client must have at most ${perClientMax} exports under way`);
    }
    if (taken >= max) throw refusal('UNAVAILABLE', 'all exports of this service are under way already');
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

const refusal = (code: 'TOO_MANY_REQUESTS' | 'UNAVAILABLE', reason: string): RequestError =>
  new RequestError(code, `Cannot export now: ${reason}; wait as long as Retry-After says, or read page by page`, {
    'retry-after': retryAfterSeconds,
  });
