import { parseInstant } from '../../contract/instant.ts';
import { auditOperations } from '../../contract/operator-audit.ts';
import { listLimitDefault } from '../../contract/operator-list.ts';
import { describeFaults } from '../../contract/parameter-faults.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { ruleOf } from '../../contract/schema.ts';
import { describeAuditEntry, listAudit } from '../../operator/list-audit.ts';
import type { AddRoute } from './operator-routes.ts';
import { formatCursor, parseCursor } from './page.ts';

const entryId = /^\d{1,15}$/;

/** Adds `listAuditEntries`. Its pages follow the ids, as most of a page may not match a filter. */
export function addAuditRoutes(add: AddRoute): void {
  add('listAuditEntries', async ({ context, query }) => {
    const { limit = listLimitDefault, cursor, after, since, until, client_id: clientId, ...same } = query;
    const filter = { ...same, clientId, since: secondsOf('since', since), until: secondsOf('until', until) };
    const at = cursor === undefined ? after : Number(parseCursor(cursor, 1, entryId)[0]);
    const page = after === undefined ? { limit, before: at } : { limit, after: at };
    const { entries, reached, hasMore } = await listAudit(context, filter, page);
    return { data: entries.map(describeAuditEntry), next: hasMore ? formatCursor([String(reached)]) : null };
  });
}

/** The seconds of a time; throws `ProblemError` if the day or the hour does not exist. */
function secondsOf(parameter: 'since' | 'until', instant: string | undefined): number | undefined {
  if (instant === undefined) return undefined;
  const parsed = parseInstant(instant);
  if (parsed !== undefined) return parsed.seconds;
  const fault = { parameter, value: instant, rule: ruleOf(auditOperations.listAuditEntries.query[parameter]) };
  throw new ProblemError(describeFaults([fault], false));
}
