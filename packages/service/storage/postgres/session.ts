import type { TenantId } from '../store.ts';

// How connections and a tenant's transactions begin on PostgreSQL.

/**
 * The role that a tenant's transactions switch to if the role we connect as bypasses row-level
 * security.
 */
export const tenantRole = 'subreport_tenant';

/** Propagates the tenant to the workers of Citus; plain PostgreSQL ignores this setting. */
export const distributedOption = '-c citus.propagate_set_commands=local';

/**
 * Each of our statements has an index that returns its rows in order, and most stop early. Without
 * these settings, the planner reads and sorts all rows of a table that has grown since it was last
 * analysed (12 instead of 3 ms), or of a tenant without statistics (126 instead of 0.2 ms), or it
 * joins each row of a page with all former versions (8,600 instead of 3 ms).
 */
export const plannerOptions = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_material', 'jit'].map(
  (name) => `${name}=off`,
);

/** Start-up options of the connections that serve requests. */
export const sessionOptions = [distributedOption, ...plannerOptions.map((option) => `-c ${option}`)].join(' ');

/**
 * Timeouts in milliseconds after which the server itself aborts abandoned work; a lock wait is
 * aborted before its statement.
 */
export const serverTimeouts = (operationMs: number) => ({
  statement_timeout: operationMs,
  lock_timeout: Math.ceil(operationMs * 0.75),
  idle_in_transaction_session_timeout: operationMs,
});

/** All statements of a reader share one snapshot. */
export const beginReading = 'begin isolation level repeatable read read only';

/**
 * Sets the server's timeouts for one transaction, in milliseconds; 0 means none. Start-up options
 * would not do: a pooler ignores them, and the role's settings would apply.
 */
export const limitTime = (statementMs: number, idleMs: number): string =>
  `select set_config('statement_timeout', '${statementMs}', true), set_config('lock_timeout', '${Math.ceil(statementMs * 0.75)}', true),
     set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`;

/** For a transaction of unlimited length: a migration, an import that holds its lock. */
export const noTimeLimit = limitTime(0, 0);

export const tenantOpening = (begin: string, tenant: TenantId, stepDown: boolean): readonly Opening[] => [
  [begin, []],
  ...tenantRights(tenant, stepDown),
];

/**
 * Switches to `tenantRole` if the role we connect as bypasses row-level security, and sets the
 * tenant whose rows are visible.
 */
export const tenantRights = (tenant: TenantId, stepDown: boolean): readonly Opening[] => [
  ...(stepDown ? [[`set local role ${tenantRole}`, []] as const] : []),
  ['select set_tenant($1)', [tenant]],
];

/**
 * The same for a read of one statement. The statements up to a Sync are one transaction even
 * without BEGIN and COMMIT, so these settings last until the end of the batch. Citus propagates
 * `set local` in a transaction block only. With `plansOnce`, each connection plans a statement once
 * for all values. By itself, PostgreSQL compares estimates that depend on the size of a tenant, and
 * plans some statements each time: that took as long as running them.
 */
export const tenantSettings = (tenant: TenantId, stepDown: boolean, plansOnce: boolean): Opening => {
  const settings = [
    `set_config('app.tenant', $1, true)`,
    `set_config('transaction_read_only', 'on', true)`,
    ...(stepDown ? [`set_config('role', '${tenantRole}', true)`] : []),
    ...(plansOnce ? [`set_config('plan_cache_mode', 'force_generic_plan', true)`] : []),
  ];
  return [`select ${settings.join(', ')}`, [tenant]];
};

type Opening = readonly [text: string, values: readonly TenantId[]];
