import { computed } from '@preact/signals';
import { type SessionBody, SessionKeeper } from '../../ui/session.ts';

/** The session of a client of the report's API. */
export interface ReportSession extends SessionBody {
  readonly client_id: string;
  /** Display name of the client; `null` if it has none. */
  readonly name: string | null;
  readonly tenant: string;
  /** The oldest instant with a report, behind a first import; absent without a history. */
  readonly history_begins_at?: string;
}

export const session = new SessionKeeper<ReportSession>((a, b) => a.client_id === b.client_id && a.tenant === b.tenant);

/** When the history began, as the service last said: nothing earlier is requested. */
export const historyBegin = computed(() => {
  const { value } = session.state;
  return 'session' in value ? value.session.history_begins_at : undefined;
});
