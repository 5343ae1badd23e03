import { useMemo, useState } from 'preact/hooks';
import { type Load, useLoad } from '../../ui/use-load.ts';
import { changesUntil, reports } from '../api.ts';
import { readPresentToken } from '../live/poll-changes.ts';
import { session } from '../session/session.ts';
import { VisitStore } from './last-visit.ts';
import { type ChangeReader, markAsSeen, type RecentChanges, readRecentChanges } from './read-changes.ts';
import { type ChangeSelection, type PeriodChanges, readPeriod } from './read-period.ts';

/** What changed since the last visit of this client in this browser. */
export interface RecentChangesState {
  readonly load: Load<RecentChanges>;
  /** Lets the changes of a period count as seen. Rejects with the errors of the client library. */
  readonly markAsSeen: (period: PeriodChanges) => Promise<void>;
}

const readerUntil = (signal: AbortSignal): ChangeReader => ({ ...changesUntil(signal), present: readPresentToken });

/** Lists the changes of a selection. */
export function useRecentChanges(selection: ChangeSelection): RecentChangesState {
  const store = useMemo(visitStore, []);
  const options = { selection, isListed: true };
  const loaded = useLoad((signal) => readRecentChanges(readerUntil(signal), store, Date.now, options));
  const [seen, setSeen] = useState<RecentChanges>();
  return {
    load: seen === undefined ? loaded : { kind: 'ready', value: seen },
    markAsSeen: async (period) => {
      const seenUntil = markAsSeen(period, store, Date.now);
      setSeen({
        since: seenUntil.at,
        isLost: false,
        period: await readPeriod(reports, seenUntil.token, selection),
      });
    },
  };
}

/** How much changed since the last visit; nothing is read while `isPast`. */
export function useChangeCount(isPast: boolean): Load<RecentChanges> {
  const store = useMemo(visitStore, []);
  const read = (signal: AbortSignal) => readRecentChanges(readerUntil(signal), store, Date.now, { isListed: false });
  return useLoad(isPast ? undefined : read);
}

function visitStore(): VisitStore {
  const { value } = session.state;
  // pages are drawn only within a session
  if (!('session' in value)) throw new TypeError('Cannot find the last visit: a client must be signed in');
  return new VisitStore(value.session.tenant, value.session.client_id);
}
