import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AuditLog, createAuditLog } from '../audit/audit-log.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import { nowSeconds } from './store-session.ts';

/**
 * The audit log of a command. With `AUDIT_FILE`, each entry is also a line of that file, in the
 * format of the service's log.
 */
export function openCommandAudit(store: Store, { AUDIT_FILE: file }: Pick<Config, 'AUDIT_FILE'>): AuditLog {
  const write = (entry: object): void => {
    if (file !== '')
      appendLine(file, { level: 'info', time: new Date(), service: 'subreport', ...entry, msg: 'audit' });
  };
  return createAuditLog({ store, now: nowSeconds, write });
}

/** Appends a line; if that fails, prints an error and continues, as the store has the entry. */
function appendLine(file: string, line: object): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.stderr.write(
      `Cannot write the audit line: AUDIT_FILE must be a file that this user can write: ${code ?? message}; the database has the entry\n`,
    );
  }
}
