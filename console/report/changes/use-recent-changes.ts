import { useMemo, useState } from 'preact/hooks';
import { LastValue, type Load, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { readPresentToken } from '../live/poll-changes.ts';
import { session } from '../session/session.ts';
import { VisitStore } from './last-visit.ts';
import { type ChangeReader, markAsSeen, type RecentChanges, readRecentChanges } from './read-changes.ts';

/** What changed since the last visit of this client in this browser. */
export interface RecentChangesState {
  readonly load: Load<RecentChanges>;
  /** Lets everything until now count as seen. Rejects with the errors of the client library. */
  readonly markAsSeen: () => Promise<void>;
}

const reader: ChangeReader = {
  changes: (since, options) => reports.changes(since, options),
  present: readPresentToken,
};
const last = { described: new LastValue<RecentChanges>(session), plain: new LastValue<RecentChanges>(session) };

/** Described changes have their kinds and what the records were. */
export function useRecentChanges({ isDescribed }: { readonly isDescribed: boolean }): RecentChangesState {
  const store = useMemo(visitStore, []);
  const loaded = useLoad(
    () => readRecentChanges(reader, store, Date.now, { isDescribed }),
    last[isDescribed ? 'described' : 'plain'],
  );
  const [seen, setSeen] = useState<RecentChanges>();
  return {
    load: seen === undefined ? loaded : { kind: 'ready', value: seen },
    markAsSeen: async () => {
      const visits = await markAsSeen(reader, store, Date.now);
      setSeen({ since: visits.last.at, isLost: false, changes: [], hasMore: false });
    },
  };
}

function visitStore(): VisitStore {
  const { value } = session.state;
  // pages are drawn only within a session
  if (!('session' in value)) throw new TypeError('Cannot find the last visit: a client must be signed in');
  return new VisitStore(window.localStorage, value.session.tenant, value.session.client_id);
}
