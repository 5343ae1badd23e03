import { tenantRole } from './postgres-role.ts';

// What connections and a tenant's transactions on PostgreSQL begin with.

/** A distributed engine's workers must see the tenant; elsewhere a name without meaning. */
export const distributedOption = '-c citus.propagate_set_commands=local';

/**
 * Each of our statements has an index that gives its rows in order, and most stop after some of them. Without this, a table that was not analysed since it
 * grew is read and sorted as a whole (measured: a step of 3 ms took 12 ms in 60,000 rows, and grew with them).
 */
export const sessionOptions = `${distributedOption} -c enable_seqscan=off -c enable_bitmapscan=off -c jit=off`;

/** All statements of a reader see one moment. */
export const beginReading = 'begin isolation level repeatable read read only';

/** A tenant's transaction steps down to its role, where the one we connect as walks past row-level security. */
export const setTenantRole = `set local role ${tenantRole}`;

/** Says whose rows row-level security lets through in a transaction: those of `$1`. */
export const setTenant = 'select set_tenant($1)';
