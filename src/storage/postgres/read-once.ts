import type pg from 'pg';
import { inStatement, type TracedDatabase } from '../../tracing/statement-span.ts';
import type { Row, TenantId, TenantStatement } from '../store.ts';
import { type BatchStatement, runBatch } from './batch.ts';
import type { DatabaseFactsReader } from './database-facts.ts';
import { beginReading, tenantOpening, tenantSettings } from './session.ts';

/** Statements that read a tenant's rows in one transaction. */
interface OnceRead {
  readonly tenant: TenantId;
  readonly statements: readonly TenantStatement[];
  /** Whether they take a short time that does not depend on the number of rows. */
  readonly isBounded: boolean;
}

interface ReadingParts {
  readonly facts: DatabaseFactsReader;
  readonly traced: TracedDatabase;
  readonly nameOf: (text: string) => string;
}

/** Sends the statements and what surrounds them as one batch; returns the rows of each. */
export async function readOnce(
  client: pg.ClientBase,
  { tenant, statements, isBounded }: OnceRead,
  { facts, traced, nameOf }: ReadingParts,
): Promise<readonly (readonly Row[])[]> {
  const { stepDown, isDistributed } = facts.known ?? (await facts.read(client));
  const plansOnce = isBounded && !isDistributed; // Citus cannot
  const isSingle = statements.length === 1 && !isDistributed; // one statement has one snapshot
  const opening = isSingle
    ? [tenantSettings(tenant, stepDown, plansOnce)]
    : tenantOpening(beginReading, tenant, stepDown, plansOnce);
  const prepare = (text: string, values: BatchStatement['values'], ignoresRows: boolean): BatchStatement => ({
    name: nameOf(text),
    text,
    values,
    ignoresRows,
  });
  const batch = [
    ...opening.map(([text, values]) => prepare(text, values, true)),
    ...statements.map(({ sql, values }) => prepare(sql, [tenant, ...values], false)),
    ...(isSingle ? [] : [prepare('commit', [], true)]),
  ];
  const texts = batch.map(({ text }) => text);
  const results = await inStatement(traced, texts, () => runBatch(client, batch));
  return results.slice(opening.length, opening.length + statements.length);
}

/**
 * Whether a read may share its connection: those after it wait for it. On Citus, a worker that
 * hangs must not delay the reads of other tenants.
 */
export function isShareable({ isBounded, statements }: OnceRead, { known }: DatabaseFactsReader): boolean {
  return isBounded && statements.length === 1 && known?.isDistributed === false;
}
