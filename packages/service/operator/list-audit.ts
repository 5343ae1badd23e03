import {
  type AuditEntries,
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
