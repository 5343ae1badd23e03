import type { AuditEvent } from '../audit/audit-event.ts';
import type { AuditTally } from '../audit/audit-tally.ts';
import type { OperatorGate } from '../auth/authorize-operator.ts';
import { AccessError, ThrottledError } from '../auth/error.ts';

/** A token signs in when it is used after this time without use, in seconds. */
const idleSeconds = 3_600;

/** Returns the same gate, which counts rejected tokens and sign-ins for the audit log. */
export function watchGate(gate: OperatorGate, tally: AuditTally, now: () => number): OperatorGate {
  return {
    async authorize(header, scope, address) {
      const access = await gate.authorize(header, scope, address).catch((error: unknown) => {
        const refused = describeRefusal(error);
        if (refused !== undefined) tally.add({ ...signIn, address, ...refused });
        throw error;
      });
      const { id, name, lastUsedAt } = access;
      if (lastUsedAt === null || now() - lastUsedAt >= idleSeconds)
        tally.add({ ...signIn, address, actor: { kind: 'operator', id, name }, outcome: 'ok', error: null });
      return access;
    },
  };
}

const signIn = { action: 'operator.sign-in', tenant: null, clientId: null, correlationId: null, details: {} } as const;

function describeRefusal(error: unknown): Pick<AuditEvent, 'actor' | 'outcome' | 'error'> | undefined {
  const outcome = 'refused';
  if (error instanceof ThrottledError) return { actor: anonymous, outcome, error: 'TOO_MANY_REQUESTS' };
  if (!(error instanceof AccessError)) return undefined;
  const { operatorId, code } = error;
  const actor = operatorId === undefined ? anonymous : { kind: 'operator' as const, id: operatorId, name: null };
  return { actor, outcome, error: code };
}

const anonymous = { kind: 'anonymous', id: null, name: null } as const;
