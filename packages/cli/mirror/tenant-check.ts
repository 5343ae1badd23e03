import type { OriginRecord } from './origin.ts';
import type { MirrorState } from './state.ts';
import type { Applied, MirrorCounts, MirrorTarget, SentRecord, TenantRecord } from './target.ts';

/** Why a walk is no evidence after a restore or an erasure. */
export const otherTenant = 'the tenant was changed by something else meanwhile';

interface Changes {
  readonly records?: readonly OriginRecord[];
  readonly removed?: readonly string[];
}

/**
 * Applies changes. If the tenant is not as the last ones left it, as after a restore or an erasure,
 * the state remembers that it must be compared.
 */
export async function applyTo(target: MirrorTarget, state: MirrorState, changes: Changes = {}): Promise<Applied> {
  const { records = [], removed = [] } = changes;
  // to count reads the whole state file: not with each page
  const counts = records.length + removed.length === 0 ? countsOf(state) : undefined;
  const applied = await target.apply({ records, removed, ages: state.ages, counts, token: state.token });
  state.transact(() => {
    if (!applied.isExpected) state.set('isDoubtful', true);
    state.set('token', applied.token);
  });
  return applied;
}

/** Until a walk was complete, nothing is known about removals, nor that no record is rejected. */
function countsOf({ doubt: { walk, heldBack, unconfirmed }, staleness: { rejected } }: MirrorState): MirrorCounts {
  if (walk > 0) return { rejected, heldBack, unconfirmed };
  return { rejected: rejected > 0 ? rejected : null, heldBack: null, unconfirmed: null };
}

/** How a tenant differs from what its mirror has sent. */
interface TenantDifferences {
  /** Ids of records that it lacks, that it has in another version, and that only it has. */
  readonly missing: readonly string[];
  readonly altered: readonly string[];
  readonly unknown: readonly TenantRecord[];
}

/**
 * Compares a tenant with what its mirror has sent. Records that the mirror is about to send again
 * are not compared.
 */
async function compareTenant(
  target: Pick<MirrorTarget, 'list'>,
  sent: Map<string, SentRecord>,
): Promise<TenantDifferences> {
  const altered: string[] = [];
  const unknown: TenantRecord[] = [];
  for await (const records of target.list()) {
    for (const record of records) {
      const own = sent.get(record.id);
      sent.delete(record.id);
      if (own === undefined) unknown.push(record);
      else if (own.isSent && own.stored !== record.digest) altered.push(record.id);
    }
  }
  const missing = [...sent].flatMap(([id, { isSent, stored }]) => (isSent && stored !== '' ? [id] : []));
  return { missing, altered, unknown };
}

/** Compares a tenant beside a running mirror: a record that this one changes is no difference. */
export async function verifyTenant(
  target: Pick<MirrorTarget, 'list'>,
  before: ReadonlyMap<string, SentRecord>,
  readSent: () => ReadonlyMap<string, SentRecord>,
): Promise<TenantDifferences> {
  const { missing, altered, unknown } = await compareTenant(target, new Map(before));
  const after = readSent();
  const isSame = (id: string): boolean => {
    const [one, other] = [before.get(id), after.get(id)];
    return one?.stored === other?.stored && one?.isSent === other?.isSent;
  };
  return {
    missing: missing.filter(isSame),
    altered: altered.filter(isSame),
    unknown: unknown.filter(({ id }) => isSame(id)),
  };
}

/**
 * Makes the state such that walks repair the tenant: they send what is missing or altered, and
 * remove what only the tenant has unless they see it. The open walk ends, and no age is known.
 */
export async function repairTenant(
  target: MirrorTarget,
  state: MirrorState,
  atSeconds: number,
): Promise<TenantDifferences> {
  const found = await compareTenant(target, state.sent());
  state.transact(() => {
    for (const id of [...found.missing, ...found.altered]) state.sendAgain(id);
    for (const record of found.unknown) state.adopt(record);
    if (found.missing.length + found.altered.length + found.unknown.length > 0) state.abandon(otherTenant, atSeconds);
    state.set('isDoubtful', false);
  });
  return found;
}
