import { hash, randomUUID } from 'node:crypto';
import { formatInstant } from '../../contract/instant.ts';
import { mirrorRecordsMax } from '../../contract/operator/mirror.ts';
import { withImportLock } from '../import/import-lock.ts';
import { parseRow } from '../import/read-ndjson.ts';
import { checkContent } from '../import/read-valid-rows.ts';
import type { Directory, Store } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { findAnyTenant, setMirrorStatement, type TenantMirror, unknownCounts } from '../storage/tables/tenant.ts';
import { OperatorError } from './error.ts';
import { type OperatorContext, perform, performInSteps } from './perform.ts';
import { describeTenant, requireTenant, showTenant } from './tenants.ts';

/**
 * Makes a tenant without records the mirror of an origin; repeating it changes nothing, and another
 * origin of the same mirror replaces the former one. Throws `OperatorError` if the tenant has
 * records, or is another mirror.
 */
export async function beginMirror(context: OperatorContext, name: string, id: string, origin: string) {
  const { store, now } = context;
  const tenant = await requireTenant(store, name, 'add');
  await withImportLock(store, tenant, async () => {
    const { records, mirror } = await showTenant(context, name);
    if (mirror?.id === id && mirror.origin === origin) return;
    await perform(
      context,
      { name: 'mirror.begin', target: { tenant: name }, details: { origin } },
      async (directory) => {
        if (mirror?.id === id) return setMirror(directory, name, { ...mirror, origin });
        if (mirror !== null) throw isOther(name, mirror);
        if (records > 0)
          throw new OperatorError(
            'CONFLICT',
            `Cannot mirror into the tenant: it must have no records, or be the mirror already: '${name}' has ${records}`,
            'create another tenant with: subreport tenant create',
          );
        const since = new Date(now() * 1000).toISOString().replace('.000Z', 'Z');
        const begun = { id, origin, since, newAsOf: null, changesAsOf: null, applied: randomUUID(), ...unknownCounts };
        return setMirror(directory, name, begun);
      },
    );
  });
  return describeTenant(await showTenant(context, name));
}

/** Ends the mirror of a tenant, which keeps its records. */
export async function endMirror(context: OperatorContext, name: string) {
  await perform(context, { name: 'mirror.end', target: { tenant: name } }, async (directory) => {
    await requireTenant(directory, name);
    await requireMirror(directory, name);
    await setMirror(directory, name, null);
  });
  return describeTenant(await showTenant(context, name));
}

type MirrorState = Omit<TenantMirror, 'id' | 'origin' | 'since' | 'applied'>;

/** What a mirror brings. */
interface MirrorChanges {
  readonly id: string;
  /** Records as NDJSON. */
  readonly records: string;
  readonly removed: readonly string[];
  /** Its ages and counts; `undefined` leaves one as it is. */
  readonly state: { readonly [Name in keyof MirrorState]?: MirrorState[Name] | undefined };
  /** The revision token that the mirror was left behind with. */
  readonly token: string | undefined;
}

/**
 * Applies changes of a mirror to its tenant in one transaction, then stores its ages and counts.
 * Nothing else changes the records meanwhile, so the revision token is that of what the mirror has
 * left.
 */
export async function applyMirror(context: OperatorContext, name: string, changes: MirrorChanges) {
  const { store } = context;
  const tenant = await requireTenant(store, name);
  const { rows, rejected, digests } = checkRows(changes.records);
  const ids = new Set(rows.keys());
  const removed = changes.removed.filter((id) => !ids.has(id));
  const load = () => store.loadSubscriptions(tenant, [...rows.values()], undefined, undefined, removed);
  const isEmpty = rows.size + changes.removed.length === 0;
  const work = () =>
    withImportLock(store, tenant, async () => {
      await requireMirror(store, name, changes.id);
      const found = await readToken(store, name);
      const counts = isEmpty ? nothing : await load();
      await storeState(store, name, changes);
      return { counts, revision_token: await readToken(store, name), is_expected: found === changes.token };
    });
  const action = {
    name: 'records.load' as const,
    target: { tenant: name },
    details: { format: 'ndjson', options: ['mirror'] },
    detailsOf: ({ counts }: Awaited<ReturnType<typeof work>>) => ({ ...counts, rejected: rejected.length }),
  };
  const { counts, ...token } = await (isEmpty ? work() : performInSteps(context, action, work));
  return { tenant: name, ...counts, rejected, digests, ...token };
}

const nothing = { inserted: 0, updated: 0, unchanged: 0, removed: 0 };

/**
 * Changes with the records of the tenant and with each `applyMirror`. The revision alone is not
 * enough: it is the same again after a restore and as many other changes.
 */
async function readToken(store: Store, name: string): Promise<string> {
  const { revision = 0, mirror = null } = (await findAnyTenant(store, name)) ?? {};
  return digestOf(JSON.stringify([revision, mirror?.applied]));
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** Up to `limit` records of the mirror `id` by id after an id, with digests of what is stored. */
export async function listMirrorRecords(
  { store }: OperatorContext,
  name: string,
  { id, after, limit }: { readonly id: string; readonly after: string; readonly limit: number },
) {
  const tenant = await requireTenant(store, name);
  await requireMirror(store, name, id);
  const rows = await store.readTenant(tenant, (reader) =>
    reader.all(
      'select id, iccid, created_date, record from subscription where tenant_id = $1 and id > $2 order by id limit $3',
      [after, limit],
    ),
  );
  return rows.map((row) => ({
    id: String(row.id),
    iccid: String(row.iccid),
    created_at: formatInstant(Number(row.created_date)),
    digest: digestOf(String(row.record)),
  }));
}

async function storeState(store: Store, name: string, { id, state }: MirrorChanges): Promise<void> {
  await store.transact(async (directory) => {
    const mirror = await requireMirror(directory, name, id);
    const told = Object.entries(state).filter(([, value]) => value !== undefined);
    await setMirror(directory, name, { ...mirror, ...Object.fromEntries(told), applied: randomUUID() });
  });
}

/** The valid rows by id, and the lines of the others with the rules that they break. */
function checkRows(text: string) {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > mirrorRecordsMax)
    throw new OperatorError(
      'INVALID',
      `Cannot apply the changes: 'records' must have at most ${mirrorRecordsMax} lines: current value has ${lines.length}`,
    );
  const rows = new Map<string, SubscriptionRow>();
  const rejected: { line: number; reason: string }[] = [];
  const digests: (string | null)[] = [];
  for (const [at, line] of lines.entries()) {
    const checked = checkContent(parseRow(line), line);
    if ('faults' in checked) {
      const reason = checked.faults
        .map(({ field, rule }) => `${field === '' ? 'the record' : field} must be ${rule}`)
        .join('; ');
      rejected.push({ line: at + 1, reason: reason.slice(0, 1_024) });
    } else rows.set(checked.row.id, checked.row);
    digests.push('faults' in checked ? null : digestOf(checked.row.record));
  }
  return { rows, rejected, digests };
}

const setMirror = (directory: Directory, name: string, mirror: TenantMirror | null) =>
  directory.writeDirectory([setMirrorStatement(name as never, mirror)]);

/** Throws `OperatorError` unless the tenant is a mirror, and that one if an id is given. */
async function requireMirror(directory: Directory, name: string, id?: string): Promise<TenantMirror> {
  const mirror = (await findAnyTenant(directory, name))?.mirror ?? null;
  if (mirror === null)
    throw new OperatorError(
      'CONFLICT',
      `Cannot use the mirror of the tenant: it must be one: '${name}' is an ordinary tenant`,
    );
  if (id !== undefined && mirror.id !== id) throw isOther(name, mirror);
  return mirror;
}

const isOther = (name: string, { origin }: TenantMirror): OperatorError =>
  new OperatorError(
    'CONFLICT',
    `Cannot use the tenant: it must be no mirror, or the mirror of this state file: '${name}' is another mirror of ${origin}`,
    `end that mirror with: subreport tenant end-mirror ${name}`,
  );
