import { readStatusFilter, statusFilterOf } from '../../contract/subscription.ts';
import { suggest } from '../../contract/suggest.ts';
import { listProducts } from '../storage/counts/intervals.ts';
import { countPast, type Moment, type PastRevision, summarisePast } from '../storage/read/past.ts';
import type { Store, TenantId, TenantReader } from '../storage/store.ts';
import { readHistory } from '../storage/tables/history.ts';
import type { ReportFilters } from './filters.ts';

/** The filters whose values may be misspelled. */
interface ExplainedFilters extends Pick<ReportFilters, 'statuses' | 'productId' | 'planId' | 'iccid'> {
  /** Set if the past is asked for, also if nothing has changed since. */
  readonly asOf?: Moment | undefined;
}

/** Most values that one explanation names, and that a misspelled one is compared with. */
const valuesMax = 3;
const comparedMax = 200;
/** Maximum statuses that are listed if none is similar to the requested one. */
const listedMax = 5;

const allRecords = { dateColumn: 'created_date' } as const;

/**
 * Says why no record matches: because no record at all has a status, product or plan of the query,
 * with one that is similar to it, or because a SIM has its ICCID with or without a check digit.
 * `undefined` if that is not the reason. Costs a few reads of the counts, or at a past revision of
 * what has changed since; call it only if nothing matches. With `as-of`, products, plans and ICCIDs
 * are not compared, because only present ones can be listed.
 *
 * @example "No subscription of yours has the status 'ACTVE': did you mean 'ACTIVE'?"
 */
export async function explainNothing(
  reader: TenantReader,
  { statuses = [], productId, planId, iccid, asOf }: ExplainedFilters,
  at: PastRevision,
): Promise<string | undefined> {
  const sim = asOf === undefined && typeof iccid === 'string' ? await explainIccid(reader, iccid) : undefined;
  if (statuses.length === 0 && productId === undefined && planId === undefined) return sim;
  const { total, columns } = await summarisePast(reader, { filter: allRecords, columns: ['status'] }, at);
  if (total === 0) return asOf === undefined ? 'You have no subscriptions.' : 'You had no subscriptions then.';
  const sentences: string[] = [];
  const counts = [...(columns.get('status') ?? [])].toSorted(
    ([a, n], [b, m]) => m - n || (String(a) < String(b) ? -1 : 1),
  );
  const known = counts.slice(0, comparedMax).flatMap(([status]) => (status === null ? [] : [String(status)]));
  const missing = statuses.map(readStatusFilter).filter((status) => !(columns.get('status')?.has(status) ?? false));
  for (const status of missing.slice(0, valuesMax))
    sentences.push(
      status === null
        ? 'Every subscription of yours has a status.'
        : sentenceOf('status', status, known, { most: listedMax, show: statusFilterOf }),
    );
  if (missing.length > valuesMax) sentences.push(`The same holds for ${missing.length - valuesMax} more.`);
  const isNone = async (filter: { readonly productId: string } | { readonly planId: string }): Promise<boolean> =>
    (await countPast(reader, { ...allRecords, ...filter }, at)) === 0;
  const lacksProduct = productId !== undefined && (await isNone({ productId }));
  const lacksPlan = planId !== undefined && (await isNone({ planId }));
  const { products, plans } =
    (lacksProduct || lacksPlan) && asOf === undefined ? await listProducts(reader, comparedMax) : noProducts;
  if (lacksProduct) sentences.push(sentenceOf('product id', productId, products));
  if (lacksPlan) sentences.push(sentenceOf('plan id', planId, plans));
  if (sim !== undefined) sentences.push(sim);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** Says that a record has an ICCID with a digit more or less: systems write it with or without. */
async function explainIccid(reader: TenantReader, iccid: string): Promise<string | undefined> {
  const [row] = await reader.all(
    `select iccid from subscription where tenant_id = $1 and (iccid = $2 or iccid > $3 and iccid < $4)
     and not exists (select 1 from subscription where tenant_id = $1 and iccid = $3) order by iccid limit 1`,
    [iccid.slice(0, -1), iccid, `${iccid}:`],
  );
  const found = row === undefined ? 0 : String(row.iccid).length;
  if (found === 0) return undefined;
  const given = iccid.length;
  return found > given
    ? `${given} digits: a SIM with ${found} digits begins with these.`
    : `${given} digits: a SIM has these without the last, the check digit.`;
}

const noProducts = { products: [], plans: [] };

/** How known values are shown: as values of the filter, and at most `most` if none is similar. */
interface Shown {
  readonly most: number;
  readonly show: (value: string) => string;
}

function sentenceOf(
  name: string,
  value: string,
  known: readonly string[],
  { most, show }: Shown = { most: 0, show: String },
): string {
  const similar = suggest(value, known);
  if (similar !== undefined)
    return `No subscription of yours has the ${name} '${value}': did you mean '${show(similar)}'?`;
  const listed = known.slice(0, most).map((each) => `'${show(each)}'`);
  const others = known.length > listed.length ? ' and others' : '';
  const which = listed.length === 0 ? '' : `: yours have ${listed.join(', ')}${others}`;
  return `No subscription of yours has the ${name} '${value}'${which}.`;
}

/**
 * The same for a response that was read at a revision, in a snapshot of its own; `undefined` if the
 * tenant has changed since.
 */
export function explainPage(
  store: Pick<Store, 'readTenant'>,
  tenant: TenantId,
  filters: ExplainedFilters,
  revision: number,
): Promise<string | undefined> {
  return store.readTenant(tenant, async (reader) => {
    const { revision: current } = await readHistory(reader);
    return current === revision ? explainNothing(reader, filters, { revision, current }) : undefined;
  });
}
