import { type ChangeEffect, readGroups } from '../change-groups.ts';
import type { CountWork } from '../counts/count-work.ts';
import type { Row, TenantReader, TenantSql } from '../store.ts';

// Compares what commits say of their changes (`change-groups.ts`) with the records and versions
// that begin and end at their revisions. A summary of changes believes it.

/** Commits that one statement reads. */
const commitsRead = 5_000;

/** The revisions of the kept history whose commit says something wrong. */
export async function listWrongEffects(reader: TenantReader): Promise<readonly number[]> {
  const wrong: number[] = [];
  for (let last = 0; ; ) {
    const rows = await reader.all(selectEffects, [last, commitsRead]);
    wrong.push(...rows.filter(isWrong).map(({ revision }) => Number(revision)));
    if (rows.length < commitsRead) return wrong;
    last = Number(rows.at(-1)?.revision);
  }
}

/** Forgets what these commits say: a summary of changes then reads the records. */
export function* forgetWrongEffects(): CountWork {
  for (let last = 0; ; ) {
    const [rows = []] = yield [{ kind: 'read', sql: selectEffects, values: [last, commitsRead] }];
    for (const { revision } of rows.filter(isWrong))
      yield [{ kind: 'read', sql: forgetEffect, values: [Number(revision)] }];
    if (rows.length < commitsRead) return;
    last = Number(rows.at(-1)?.revision);
  }
}

function isWrong({ change_groups: groups = null, began, ended }: Row): boolean {
  if (groups === null) return false;
  try {
    const [added, changed, removed] = countKinds(String(groups));
    return added + changed !== Number(began) || changed + removed !== Number(ended);
  } catch {
    return true; // not JSON, or not of groups
  }
}

function countKinds(text: string): readonly [added: number, changed: number, removed: number] {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const [effect, n] of readGroups(text)) counts[(JSON.parse(effect) as ChangeEffect).kind] += n;
  return [counts.added, counts.changed, counts.removed];
}

/** Number of former versions after revision `$2`, erased ones included, by a column. */
const sumFormer = (column: 'from_revision' | 'until_revision'): string => `select ${column}, sum(n) as n from (
    select ${column}, 1 as n from subscription_version where tenant_id = $1 and until_revision > $2
    union all select ${column}, n from subscription_erasure where tenant_id = $1 and until_revision > $2
  ) as former group by ${column}`;

/** Up to `$3` commits after revision `$2`. */
const selectEffects: TenantSql = `select c.revision, c.change_groups,
    (select count(*) from subscription as s where s.tenant_id = $1 and s.revision = c.revision) + coalesce(b.n, 0) as began,
    coalesce(e.n, 0) as ended
  from (
    select revision, change_groups from subscription_commit where tenant_id = $1 and revision > $2 and revision > (
      select history_from from tenant as t where t.id = $1 and t.history_revision = t.revision
    ) order by revision limit $3
  ) as c
  left join (${sumFormer('from_revision')}) as b on b.from_revision = c.revision
  left join (${sumFormer('until_revision')}) as e on e.until_revision = c.revision
  order by c.revision`;

const forgetEffect =
  'update subscription_commit set change_groups = null where tenant_id = $1 and revision = $2 returning revision';
