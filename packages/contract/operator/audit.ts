import type { Static } from 'typebox';
import { dateTime } from '../query.ts';
import { closed, printableAscii, wholeNumber } from '../schema.ts';
import { Type } from '../type.ts';
import { listOf, listParameters, nullableText, type OperatorOperation, time, word } from './operation.ts';

/** What operators do. */
export const operatorActionNames = [
  ...(['tenant.create', 'tenant.map-columns', 'tenant.delete'] as const),
  ...(['client.create', 'client.update', 'client.rotate', 'client.disable', 'client.enable'] as const),
  ...(['client.delete', 'client.revoke-tokens', 'keys.rotate', 'subscription.erase', 'records.load'] as const),
  ...(['store.backup', 'store.migrate', 'store.repair', 'store.restore'] as const),
  ...(['doctor.run', 'operator.create', 'operator.revoke'] as const),
] as const;

/** What callers of the service do. */
export const callerActionNames = [
  ...(['operator.sign-in', 'console.sign-in', 'console.sign-out'] as const),
  ...(['token.request', 'token.reuse', 'token.revoke', 'token.introspect'] as const),
] as const;

/** How an action ended, or that it began. */
export const auditOutcomes = ['started', 'ok', 'refused', 'failed'] as const;

const name = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: printableAscii,
    description,
    'x-rule': '1 to 256 printable characters',
    examples: [example],
  });

const actor = closed('Who did it', {
  kind: name('operator, command, client, anonymous or service', 'operator'),
  id: nullableText(
    256,
    "Id of the operator's token or of the client, or the user who ran a command",
    'op-3f1f2f6a7c10',
  ),
  name: nullableText(256, "Name of the operator's token", 'billing'),
});

/** An entry of the audit log. */
export const AuditEntry = closed('An entry of the audit log', {
  id: wholeNumber('Grows in the order in which entries are added', 1042, 1),
  recorded_at: time('When it was added'),
  actor,
  address: nullableText(64, 'Source address; null for a command', '192.0.2.10'),
  action: name('The action', 'client.rotate'),
  tenant: nullableText(256, 'The tenant that it is about', 'acme'),
  client_id: nullableText(256, 'The client that it is about', 'acme-reporting'),
  outcome: name('ok, refused, failed or started', 'ok'),
  error: nullableText(64, 'Error code, if it was refused or failed', null),
  correlation_id: nullableText(256, 'Correlation id of the request', '9f8a6c1e-4b07-4f7e-9a53-3f1f2f6a7c10'),
  details: Type.Object(
    {},
    {
      additionalProperties: true,
      maxProperties: 16,
      description: 'Members of the action, as docs/operators/audit.md lists them',
      examples: [{}],
    },
  ),
});
export type AuditEntry = Static<typeof AuditEntry>;

const after = {
  ...wholeNumber(
    'Only entries after this id, oldest first; to follow the log, send the id of the last entry received',
    1042,
  ),
  'x-rule': 'the id of an entry',
};

/** The operation on the audit log. */
export const auditOperations = {
  listAuditEntries: {
    method: 'GET',
    path: '/operator/v1/audit',
    tag: 'audit',
    summary: 'List the audit log',
    description:
      'Returns who did what to which tenant or client, the newest first unless after is given. Filters are combined with AND. A page may have fewer entries than limit, or none, and still have a following page.',
    scope: 'operator:read',
    query: {
      ...listParameters,
      after,
      since: dateTime('Only from this time on'),
      until: dateTime('Only before this time'),
      tenant: name('Only about this tenant', 'acme'),
      client_id: name('Only about the client with this id', 'acme-reporting'),
      action: word([...operatorActionNames, ...callerActionNames], 'Only this action', 'client.rotate'),
      actor: name('Only by the actor with this id or name', 'billing'),
      outcome: word(auditOutcomes, 'Only with this outcome', 'refused'),
    },
    response: { status: 200, schema: listOf(AuditEntry, 'A page of the audit log'), example: 'auditEntries' },
    sample: { query: { outcome: 'refused' } },
  },
} as const satisfies Record<string, OperatorOperation>;
