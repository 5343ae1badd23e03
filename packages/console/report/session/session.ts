import { type SessionBody, SessionKeeper } from '../../ui/session.ts';

/** The session of a client of the report's API. */
export interface ReportSession extends SessionBody {
  readonly client_id: string;
  /** Display name of the client; `null` if it has none. */
  readonly name: string | null;
  readonly tenant: string;
}

export const session = new SessionKeeper<ReportSession>((a, b) => a.client_id === b.client_id && a.tenant === b.tenant);
