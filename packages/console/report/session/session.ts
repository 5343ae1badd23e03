import { type SessionBody, SessionKeeper } from '../../ui/session.ts';

/** The session of a client of the report's API. */
export interface ReportSession extends SessionBody {
  readonly client_id: string;
  /** What people call the client; `null` if it has no name. */
  readonly name: string | null;
  readonly tenant: string;
}

export const session = new SessionKeeper<ReportSession>((a, b) => a.client_id === b.client_id && a.tenant === b.tenant);
