import type { SummaryGroup } from '../../packages/contract/summary.ts';
import { drawQuery } from './draw.ts';
import { Difference } from './failure.ts';
import {
  type Change,
  compareVersions,
  isContradictory,
  isSummaryDuring,
  matcherOf,
  type Query,
  rowsApplied,
  type State,
  type Version,
} from './model.ts';
import type { Random } from './random.ts';
import { askFor, readPages, readSummary, readWhole, type Source } from './read.ts';
import type { Tally } from './tally.ts';

// Checks of reads during a change: a single response shows one snapshot; reading page by page
// returns every record that the change does not touch exactly once.

/** Draws a query without contradictions, or takes a repeated one. */
function drawOne(
  random: Random,
  repeated: readonly Query[],
  operation: 'listSubscriptions' | 'getSubscriptionSummary',
) {
  for (;;) {
    const query = random.chance(0.5) && repeated.length > 0 ? random.pick(repeated) : drawQuery(random, operation);
    const { all: _all, page: _page, format: _format, fields: _fields, dates: _dates, ...rest } = query;
    if (!isContradictory(rest)) return rest;
  }
}

/** Reads a report page by page while records may change. */
export async function checkPages(
  source: Source,
  before: State,
  change: Change,
  repeated: readonly Query[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const query: Query = { ...drawOne(random, repeated, 'listSubscriptions'), size: random.pick(['50', '100', '250']) };
  const what = `pages during a change with ${JSON.stringify(query)}`;
  const versions = versionsByText(before, change);
  const touched = new Set([...change.ids, ...change.versions.map(({ record }) => record.id)]);
  if (change.kind === 'replace') for (const id of before.keys()) touched.add(id);
  const seen = new Map<string, number>();
  let matches = matcherOf(query, 0);
  let last: Version | undefined;
  for await (const { records, now } of readPages(source, askFor(query, random.chance(0.3)), query)) {
    tally['pages compared'] += 1;
    matches = matcherOf(query, now);
    for (const text of records) {
      const version = versions.get(text);
      if (version === undefined) throw new Difference(`${what}: no source ever had the record ${text}`);
      if (!matches(version)) throw new Difference(`${what}: it must not have the record ${text}`);
      if (last !== undefined && compareVersions(last, version, query.sort) >= 0)
        throw new Difference(`${what}: ${last.text} stands before ${text}`);
      last = version;
      seen.set(version.record.id, (seen.get(version.record.id) ?? 0) + 1);
    }
  }
  for (const [id, version] of before) {
    if (touched.has(id) || !matches(version)) continue;
    if (seen.get(id) !== 1)
      throw new Difference(`${what}: it has ${seen.get(id) ?? 0} times the record ${version.text}`);
  }
}

function versionsByText(before: State, change: Change): Map<string, Version> {
  return new Map([...before.values(), ...change.versions].map((version) => [version.text, version]));
}

/**
 * Reads an export while records may change: it must equal the report after some number of rows of
 * the change.
 */
export async function checkWhole(source: Source, before: State, change: Change, tally: Tally): Promise<void> {
  const { records } = await readWhole(source, {});
  tally['whole reports compared'] += 1;
  if (rowsApplied(before, change, records) === undefined)
    throw new Difference(
      `a whole report beside a change has ${records.length} records that are of no one moment of the change`,
    );
}

/**
 * Reads a summary while records may change: it must equal the summary after some number of rows of
 * the change.
 */
export async function checkSummary(
  source: Source,
  before: State,
  change: Change,
  repeated: readonly Query[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const query = drawOne(random, repeated, 'getSubscriptionSummary');
  const dimension = (query.by?.split(',')[0] ?? 'status') as SummaryGroup;
  const { total, countsOf, now } = await readSummary(source, { ...query, by: dimension });
  const counts = countsOf(dimension);
  tally['summaries compared'] += 1;
  const sum = [...counts.values()].reduce((a, b) => a + b, 0);
  if (sum !== total) throw new Difference(`the counts of a summary add up to ${sum}, its total is ${total}`);
  if (isSummaryDuring(before, change, query, now, dimension, counts)) return;
  throw new Difference(
    `a summary beside a change is of no one moment of the change: ${JSON.stringify([query, ...counts])}`,
  );
}
