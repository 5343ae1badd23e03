import type { AuditEntry } from '../../contract/operator/audit.ts';
import { formatAuditEntry } from '../audit/audit-log.ts';
import {
  type AuditEntries,
  type AuditEntryRow,
  type AuditFilter,
  type AuditPage,
  listAuditEntries,
} from '../storage/tables/audit-entry.ts';
import type { OperatorContext } from './perform.ts';

/** Lists entries of the audit log; see `listAuditEntries`. */
export const listAudit = (
  { store }: Pick<OperatorContext, 'store'>,
  filter: AuditFilter,
  page: AuditPage,
): Promise<AuditEntries> => listAuditEntries(store, filter, page);

/** An entry as the API and the command show it. */
export const describeAuditEntry = (row: AuditEntryRow): AuditEntry => ({ ...formatAuditEntry(row), id: row.id });
