import type { TenantId } from '../store.ts';
import { tenantRole } from './role.ts';

// What connections and a tenant's transactions on PostgreSQL begin with.

/** A distributed engine's workers must see the tenant; elsewhere a name without meaning. */
export const distributedOption = '-c citus.propagate_set_commands=local';

/**
 * Each of our statements has an index that gives its rows in order, and most stop after some of
 * them. Without this, a table that was not analysed since it grew is read and sorted as a whole
 * (measured: a step of 3 ms took 12 ms in 60,000 rows, and grew with them).
 */
export const plannerOptions = ['enable_seqscan=off', 'enable_bitmapscan=off', 'jit=off'] as const;

/** Options of the connections that serve requests. */
export const sessionOptions = [distributedOption, ...plannerOptions.map((option) => `-c ${option}`)].join(' ');

/**
 * Milliseconds after which the server itself ends what nobody waits for any more; a lock is given
 * up before the statement that waits for it.
 */
export const serverTimeouts = (operationMs: number) => ({
  statement_timeout: operationMs,
  lock_timeout: Math.ceil(operationMs * 0.75),
  idle_in_transaction_session_timeout: operationMs,
});

/** All statements of a reader see one moment. */
export const beginReading = 'begin isolation level repeatable read read only';

/**
 * Sets the server's time limits for one transaction, in milliseconds; 0 is none. Not by start-up
 * options, which a pooler ignores: the role's would be in force.
 */
export const limitTime = (statementMs: number, idleMs: number): string =>
  `select set_config('statement_timeout', '${statementMs}', true), set_config('lock_timeout', '${Math.ceil(statementMs * 0.75)}', true),
     set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`;

/** For a transaction that takes as long as it takes: a migration, an import that holds its lock. */
export const noTimeLimit = limitTime(0, 0);

/** What a tenant's transaction opens with. */
export const tenantOpening = (begin: string, tenant: TenantId, stepDown: boolean): readonly Opening[] => [
  [begin, []],
  ...tenantRights(tenant, stepDown),
];

/**
 * Steps down where the role that we connect as walks past row-level security, and says whose rows
 * are let through.
 */
export const tenantRights = (tenant: TenantId, stepDown: boolean): readonly Opening[] => [
  ...(stepDown ? [[`set local role ${tenantRole}`, []] as const] : []),
  ['select set_tenant($1)', [tenant]],
];

type Opening = readonly [text: string, values: readonly TenantId[]];
