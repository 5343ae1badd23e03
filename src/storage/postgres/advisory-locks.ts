import { createHash } from 'node:crypto';
import type { TenantId } from '../store.ts';

/**
 * The numbers of all advisory locks of a database; a test finds those in the code and in the
 * migrations. Two uses of one number would exclude each other.
 */
export const advisoryLocks = {
  /** One process migrates at a time. */
  migration: 7_236_119_410,
  /** Entries of the audit log are committed in the order of their ids (migration `0011-audit`). */
  auditOrder: 7_236_119_411,
} as const;

/** The lock of the imports into a tenant: a hash, which equals another number by no real chance. */
export const importLockOf = (tenant: TenantId): string =>
  createHash('sha256').update(`subreport import ${tenant}`).digest().readBigInt64BE().toString();
