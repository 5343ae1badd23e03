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

type Sent = ReadonlyMap<string, SentRecord>;

interface ComparedTenant extends TenantDifferences {
  /** Records that the tenant has as they were sent. */
  readonly equal: number;
  /** Records that are to be sent, which are not compared. */
  readonly unsent: number;
  /** Records that the mirror has sent since the comparison began, and that it may have missed. */
  readonly changed: number;
}

/**
 * Compares what a tenant had with what its mirror had sent before it was listed, and after. What
 * differs is no difference if the mirror has changed it meanwhile.
 */
function compare(listed: ReadonlyMap<string, TenantRecord>, before: Sent, after: Sent): ComparedTenant {
  const missing: string[] = [];
  const altered: string[] = [];
  let [equal, unsent, changed] = [0, 0, 0];
  for (const [id, { stored, isSent }] of after) {
    const earlier = before.get(id);
    const digest = listed.get(id)?.digest ?? '';
    if (!isSent) unsent += 1;
    else if (digest === stored) equal += Number(stored !== '');
    else if (earlier?.stored !== stored || !earlier.isSent) changed += 1;
    else (digest === '' ? missing : altered).push(id);
  }
  const unknown = [...listed.values()].filter(({ id }) => !before.has(id) && !after.has(id));
  return { equal, unsent, changed, missing, altered, unknown };
}

async function listTenant(target: Pick<MirrorTarget, 'list'>): Promise<Map<string, TenantRecord>> {
  const listed = new Map<string, TenantRecord>();
  for await (const records of target.list()) for (const record of records) listed.set(record.id, record);
  return listed;
}

/** Compares a tenant, also beside a running mirror; `readSent` reads what this one has sent. */
export async function verifyTenant(target: Pick<MirrorTarget, 'list'>, readSent: () => Sent): Promise<ComparedTenant> {
  const before = readSent();
  const listed = await listTenant(target);
  return compare(listed, before, readSent());
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
  const sent = state.sent();
  const found = compare(await listTenant(target), sent, sent);
  state.transact(() => {
    for (const id of [...found.missing, ...found.altered]) state.sendAgain(id);
    for (const record of found.unknown) state.adopt(record);
    if (found.missing.length + found.altered.length + found.unknown.length > 0) state.abandon(otherTenant, atSeconds);
    state.set('isDoubtful', false);
  });
  return found;
}
