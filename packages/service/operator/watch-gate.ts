import type { AuditEvent } from '../audit/audit-event.ts';
import type { AuditTally } from '../audit/audit-tally.ts';
import { AccessError, ThrottledError } from '../auth/error.ts';
import type { OperatorSessions } from '../auth/sessions/session-holder.ts';
import type { OperatorGate } from '../auth/verify/authorize-operator.ts';

/** A token signs in when it is used after this time without use, in seconds. */
const idleSeconds = 3_600;

/** Returns the same gate, which counts rejected tokens and sign-ins for the audit log. */
export function watchGate(gate: OperatorGate, tally: AuditTally, now: () => number): OperatorGate {
  return {
    async authorize(header, scope, address) {
      const access = await gate
        .authorize(header, scope, address)
        .catch(countRefusal(tally, 'operator.sign-in', address));
      const { id, name, lastUsedAt } = access;
      if (lastUsedAt === null || now() - lastUsedAt >= idleSeconds)
        tally.add({ ...event, action: 'operator.sign-in', address, actor: { kind: 'operator', id, name } });
      return access;
    },
    async authenticate(token, address) {
      const action = 'console.sign-in';
      const access = await gate.authenticate(token, address).catch(countRefusal(tally, action, address));
      const { id, name } = access;
      tally.add({ ...event, action, address, actor: { kind: 'operator', id, name } });
      return access;
    },
  };
}

/** Returns the same sessions, which count sign-outs for the audit log. */
export function watchSessions(sessions: OperatorSessions, tally: AuditTally): OperatorSessions {
  return {
    ...sessions,
    async end(id, address) {
      const ended = await sessions.end(id, address);
      if (ended === undefined) return undefined;
      const actor = { kind: 'operator', id: ended.holder.id, name: ended.holder.name } as const;
      tally.add({ ...event, action: 'console.sign-out', address, actor });
      return ended;
    },
  };
}

const event = {
  tenant: null,
  clientId: null,
  correlationId: null,
  details: {},
  outcome: 'ok',
  error: null,
} as const;

const countRefusal =
  (tally: AuditTally, action: 'operator.sign-in' | 'console.sign-in', address: string) =>
  (error: unknown): never => {
    const refused = describeRefusal(error);
    if (refused !== undefined) tally.add({ ...event, action, address, ...refused });
    throw error;
  };

function describeRefusal(error: unknown): Pick<AuditEvent, 'actor' | 'outcome' | 'error'> | undefined {
  const outcome = 'refused';
  if (error instanceof ThrottledError) return { actor: anonymous, outcome, error: 'TOO_MANY_REQUESTS' };
  if (!(error instanceof AccessError)) return undefined;
  const { operatorId, code } = error;
  const actor = operatorId === undefined ? anonymous : { kind: 'operator' as const, id: operatorId, name: null };
  return { actor, outcome, error: code };
}

const anonymous = { kind: 'anonymous', id: null, name: null } as const;
