import { type ChangesSummary, listedMax } from '../../packages/contract/changes-summary.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { localDate } from '../support/zoned.ts';
import {
  changeOf,
  changesBetween,
  isContradictoryOfChanges,
  isSelected,
  kindsOf,
  type ModelChange,
  renewedOf,
  transitionsOf,
} from './changes-model.ts';
import { drawQuery } from './draw.ts';
import { Difference, expectEqual, expectSameList } from './failure.ts';
import { fieldsOf, type Query, type State } from './model.ts';
import { instantOf, leftOf, type Moment, nameOf } from './moment.ts';
import type { Random } from './random.ts';
import { expectStatus, pathPrefix, type Source } from './read.ts';
import type { Tally } from './tally.ts';

// Checks of the changes since a former moment, and of their counts.

/** Pages of the drawn size; the rest is read in the largest ones. */
const drawnPages = 5;

/** A change as `before=true` describes it. */
interface DescribedChange {
  readonly id: string;
  readonly removed?: true;
  readonly kind: string;
  readonly committed_at?: string;
  readonly import_id?: string;
  readonly before?: object;
}

/** A change that the service described, and the one of the model. */
interface KnownChange {
  readonly described: DescribedChange;
  readonly change: ModelChange;
}

/** The changes since a moment lead from its report to the present one, and tell the former one. */
export async function checkChanges(
  source: Source,
  moment: Moment,
  present: State,
  random: Random,
  tally: Tally,
): Promise<readonly KnownChange[] | undefined> {
  const { state, erased, mayBeSwept } = moment;
  const since = instantOf(moment, random) ?? moment.token;
  const all = await readChanges(source, { since, before: 'true' }, random);
  if (all === undefined) {
    if (mayBeSwept) return undefined;
    throw new Difference(`the changes since revision ${moment.revision} are refused`);
  }
  const copy = new Map([...state].map(([id, { text }]) => [id, text]));
  const known: KnownChange[] = [];
  for (const described of all) {
    const { kind, before, committed_at: at, ...record } = plainOf(described);
    const { id } = record;
    const [had, what] = [copy.get(id), `the change of ${id} since revision ${moment.revision}`];
    const change = changeOf(id, erased.has(id) ? undefined : state.get(id), present.get(id));
    known.push({ described, change });
    expectEqual(`the former record of ${what}`, before && JSON.stringify(before), change.former?.text);
    expectEqual(`the kind of ${what}`, kind, change.kind);
    if (record.removed && had === undefined) throw new Difference(`${what} is no change`);
    expectEqual(`the time of ${what}`, typeof at, 'string');
    if (record.removed) copy.delete(id);
    else copy.set(id, JSON.stringify(record));
    if (!record.removed && had === copy.get(id)) throw new Difference(`${what} changed nothing`);
  }
  const texts = [...present.values()].map(({ text }) => text).sort();
  expectSameList(`the report of revision ${moment.revision} with the changes since`, [...copy.values()].sort(), texts);
  expectEqual(`the number of ids of changes since revision ${moment.revision}`, new Set(idsOf(all)).size, all.length);
  tally['described changes compared'] += all.length;
  await checkDrawn(source, since, known, random, tally);
  return known;
}

/** A described change without its import, of which the model knows nothing. */
function plainOf({ import_id: _importId, ...change }: DescribedChange): DescribedChange {
  return change;
}

const idsOf = (changes: readonly DescribedChange[]): string[] => changes.map(({ id }) => id);

/** Compares the changes of a drawn query with what the model selects from all of them. */
async function checkDrawn(
  source: Source,
  since: string,
  all: readonly KnownChange[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const drawn = drawQuery(random, 'listSubscriptionChanges');
  // only the service knows the ids of its imports
  const importId = all.length > 0 && random.chance(0.2) ? (random.pick(all).described.import_id ?? 'none') : undefined;
  const query: Query = { ...drawn, since, ...(importId !== undefined && { 'import-id': importId }) };
  const what = `the changes ${JSON.stringify(query)}`;
  if (isContradictoryOfChanges(query)) {
    const path = changesPath(query);
    expectStatus(await source.session.get(source.service, source.tenant, path), 400, path);
    tally['contradictions refused'] += 1;
    return;
  }
  const expected = all
    .filter(({ described }) => importId === undefined || (described.import_id ?? 'none') === importId)
    .filter(({ change }) => isSelected(query, change))
    .map(({ described }) => JSON.stringify(shownChange(described, query)));
  const found = (await readChanges(source, query, random)) ?? [];
  const texts = found.map((change) => JSON.stringify(change));
  // without filters and former records, what was added and removed since is a tombstone
  const isPlain = ['before', 'kind', 'field', 'import-id'].every((name) => (query[name] ?? 'false') === 'false');
  const added = new Set(all.map(({ described }) => described.id));
  const known = isPlain
    ? texts.filter((_, index) => found[index]?.removed !== true || added.has(found[index].id))
    : texts;
  expectSameList(what, known, query.order === 'newest' ? expected.toReversed() : expected);
  tally['drawn changes compared'] += expected.length;
}

/** A change as a query shows it; a tombstone has its id, whatever its fields. */
function shownChange(change: DescribedChange, query: Query): object {
  const { kind, committed_at, import_id, before, ...record } = change;
  const members = record.removed ? record : fieldsOf(record, query);
  if (query.before !== 'true') return members;
  return { ...members, kind, committed_at, import_id, ...(before && { before: fieldsOf(before, query) }) };
}

const changesPath = (query: Query): string => `/changes?${new URLSearchParams(query)}`;

/**
 * Reads all changes of a query, by the links or by the tokens, and nothing more with the last
 * token; returns `undefined` if they are refused with 410.
 */
async function readChanges(
  { session, service, tenant }: Source,
  query: Query,
  random: Random,
): Promise<readonly DescribedChange[] | undefined> {
  const all: DescribedChange[] = [];
  const size = query.size ?? random.pick(['50', '1000']);
  const byLink = random.chance(0.5);
  let path: string | undefined = changesPath({ ...query, size });
  for (let pages = 1; path !== undefined; pages += 1) {
    const received = await session.get(service, tenant, path);
    if (received.status === 410) return undefined;
    const { headers, text } = expectStatus(received, 200, path);
    const page = JSON.parse(text) as { changes: DescribedChange[]; next: string; has_more: boolean };
    if (page.changes.length > Number(size) && pages <= drawnPages)
      throw new Difference(`${path} has ${page.changes.length} changes`);
    all.push(...page.changes);
    const link = headers.get('x-next-page');
    expectEqual(`whether ${path} has a following page`, link !== null, page.has_more);
    const isDrawn = pages < drawnPages;
    const rest = { ...query, since: page.next, size: isDrawn ? size : String(defaultPageLimits.sizeMax) };
    if (!page.has_more) {
      const end = changesPath({ since: page.next });
      const { changes } = JSON.parse(expectStatus(await session.get(service, tenant, end), 200, end).text);
      expectEqual(`the changes after the end of ${path}`, changes, []);
      return all;
    }
    path =
      link !== null && byLink && isDrawn ? link.slice(link.indexOf(pathPrefix) + pathPrefix.length) : changesPath(rest);
  }
  return all;
}

/** The period of a summary; without an end, it ends now. */
interface Period {
  readonly start: Moment;
  readonly end: Moment | undefined;
  /** All changes since the start. */
  readonly all: readonly KnownChange[];
  readonly present: State;
}

/** The counts of the changes of a period are those of the model. */
export async function checkChangesSummary(source: Source, period: Period, random: Random, tally: Tally) {
  const { start, end, all, present } = period;
  const { session, service, tenant } = source;
  const until = end && nameOf(end, random);
  const since = instantOf(start, random) ?? start.token;
  const { zone } = drawQuery(random, 'getChangesSummary');
  const query = { since, ...(until !== undefined && { until }), ...(zone !== undefined && { zone }) };
  const path = `/changes/summary?${new URLSearchParams(query)}`;
  const received = await session.get(service, tenant, path);
  if (received.status === 410 && (start.mayBeSwept || end?.mayBeSwept)) return;
  if (end !== undefined && end.revision < start.revision) {
    expectStatus(received, 400, path);
    tally['contradictions refused'] += 1;
    return;
  }
  const summary = JSON.parse(expectStatus(received, 200, path).text) as ChangesSummary;
  const changes = end === undefined ? all.map(({ change }) => change) : changesUntil(start, end);
  const { total, added, changed, removed, renewed, by } = summary;
  const expected = { total: changes.length, ...kindsOf(changes), renewed: renewedOf(changes) };
  expectEqual(`the counts of ${path}`, { total, added, changed, removed, renewed }, expected);
  expectEqual(`the start of ${path}`, summary.since_revision, start.revision);
  if (end !== undefined) expectEqual(`the end of ${path}`, summary.revision, end.revision);
  const max = listedMax.transitions;
  const { status, 'product-id': products } = summary.omitted;
  expectTransitions(`by status of ${path}`, by.status, {
    expected: transitionsOf('status', changes),
    max,
    omitted: status,
  });
  const moves = { expected: transitionsOf('product-id', changes), max, omitted: products };
  expectTransitions(`by product of ${path}`, by['product-id'], moves);
  const switches = { expected: transitionsOf('auto-renew', changes), omitted: 0 };
  expectTransitions(`by auto_renew of ${path}`, by['auto-renew'], switches);
  if (end === undefined) checkCommits(path, summary, all, zone);
  else checkSums(path, summary, { added, changed, removed });
  const after = await readChanges(source, { since: summary.next, before: 'true' }, random);
  const later = end === undefined ? [] : changesBetween(end.state, present).map(({ id }) => id);
  if (after === undefined && !end?.mayBeSwept) throw new Difference(`the token of the end of ${path} is refused`);
  if (after !== undefined) expectSameList(`the changes after ${path}`, idsOf(after).sort(), later.sort());
  tally['summaries of changes compared'] += 1;
}

/** Of a record that has been erased since, only its removal before the end can be told. */
const changesUntil = (start: Moment, end: Moment): readonly ModelChange[] => [
  ...changesBetween(leftOf(start), leftOf(end)),
  ...[...start.erased].filter((id) => !end.state.has(id)).map((id) => changeOf(id, undefined, undefined)),
];

/** Counts by day and by import of changes whose commits the service described. */
function checkCommits(
  path: string,
  { by, omitted }: ChangesSummary,
  all: readonly KnownChange[],
  zone: string | undefined,
): void {
  const dayOf = ({ described: { committed_at: at } }: KnownChange) =>
    at === undefined ? null : localDate(Date.parse(at), zone);
  const days = [...Map.groupBy(all, dayOf)];
  const byDay = days.map(([value, ofDay]) => ({ value, ...kindsOf(ofDay.map(({ change }) => change)) }));
  expectEqual(`by day of ${path}`, by.day, byDay);
  // the newest change of an import decides its place
  const imports = [...Map.groupBy(all.toReversed(), ({ described }) => described.import_id ?? null)];
  expectEqual(
    `the imports of ${path}`,
    by.import.map((each) => each.import_id ?? null),
    imports.slice(0, listedMax.imports).map(([id]) => id),
  );
  expectEqual(`the omitted imports of ${path}`, omitted.import, Math.max(0, imports.length - listedMax.imports));
  for (const [index, { import_id: id, status, omitted: others, ...counts }] of by.import.entries()) {
    const what = `the import ${id} of ${path}`;
    const members = imports[index]?.[1] ?? [];
    const changes = members.map(({ change }) => change);
    const times = { first_at: members.at(-1)?.described.committed_at, last_at: members[0]?.described.committed_at };
    expectEqual(what, counts, { ...times, ...kindsOf(changes), renewed: renewedOf(changes) });
    const transitions = { expected: transitionsOf('status', changes), max: listedMax.perImport, omitted: others };
    expectTransitions(`by status of ${what}`, status, transitions);
  }
}

/** The model does not know when, and by which import, the changes of a former end were made. */
function checkSums(path: string, { by }: ChangesSummary, kinds: ReturnType<typeof kindsOf>): void {
  for (const lists of [by.day, by.import]) {
    const sum = { added: 0, changed: 0, removed: 0 };
    for (const { added, changed, removed } of lists) {
      sum.added += added;
      sum.changed += changed;
      sum.removed += removed;
    }
    expectEqual(`the sums by day or import of ${path}`, sum, kinds);
  }
}

/** What a list of transitions must have. */
interface ExpectedTransitions {
  readonly expected: ReadonlyMap<string, number>;
  /** Most that are listed, the most frequent ones first; if absent, all are, in any order. */
  readonly max?: number;
  /** The number that the response gives of those that it does not list. */
  readonly omitted: number;
}

/** The most frequent transitions with their counts; those of equal counts in any order. */
function expectTransitions(
  what: string,
  found: readonly { readonly from: string | null; readonly to: string | null; readonly count: number }[],
  { expected, max, omitted }: ExpectedTransitions,
): void {
  const counts = [...expected.values()].sort((a, b) => b - a);
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  const foundCounts = found.map(({ count }) => count);
  const inOrder = max === undefined ? foundCounts.toSorted((a, b) => b - a) : foundCounts;
  expectEqual(`the counts ${what}`, inOrder, counts.slice(0, max));
  expectEqual(`the omitted ones ${what}`, omitted, sum(counts.slice(max ?? counts.length)));
  const keys = found.map(({ from, to }) => JSON.stringify([from, to]));
  expectEqual(`the number of transitions ${what}`, new Set(keys).size, keys.length);
  for (const [index, key] of keys.entries())
    expectEqual(`the count ${what} of ${key}`, foundCounts[index], expected.get(key));
}
