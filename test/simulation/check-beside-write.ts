import { Difference } from './failure.ts';
import {
  type Change,
  compareVersions,
  type Filters,
  isSummaryDuring,
  makeFilters,
  matches,
  rowsApplied,
  type State,
  type Version,
} from './model.ts';
import { Random } from './random.ts';
import { readPages, readSummary, readWhole, type Source } from './read.ts';
import type { Tally } from './tally.ts';

// Checks of reads during a change: a single response shows one snapshot; reading page by page
// returns every record that the change does not touch exactly once.

/** Reads a report page by page while records may change. */
export async function checkPages(
  source: Source,
  before: State,
  change: Change,
  seed: number,
  tally: Tally,
): Promise<void> {
  const random = new Random(seed);
  const filters = makeFilters(random);
  const what = `pages during a change with ${JSON.stringify(filters)}`;
  const versions = versionsByText(before, change);
  const touched = new Set([...change.ids, ...change.versions.map(({ record }) => record.id)]);
  if (change.kind === 'replace') for (const id of before.keys()) touched.add(id);
  const seen = new Map<string, number>();
  let last: Version | undefined;
  for await (const { texts } of readPages(source, filters, random.between(20, 300))) {
    tally['pages compared'] += 1;
    for (const text of texts) {
      const version = versions.get(text);
      if (version === undefined) throw new Difference(`${what}: no source ever had the record ${text}`);
      if (!matches(version, filters)) throw new Difference(`${what}: it must not have the record ${text}`);
      if (last !== undefined && compareVersions(last, version, filters.sort) >= 0)
        throw new Difference(`${what}: ${last.text} stands before ${text}`);
      last = version;
      seen.set(version.record.id, (seen.get(version.record.id) ?? 0) + 1);
    }
  }
  for (const [id, version] of before) {
    if (touched.has(id) || !matches(version, filters)) continue;
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
  const texts = await readWhole(source, {});
  tally['whole reports compared'] += 1;
  if (rowsApplied(before, change, texts) === undefined)
    throw new Difference(
      `a whole report beside a change has ${texts.length} records that are of no one moment of the change`,
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
  seed: number,
  tally: Tally,
): Promise<void> {
  const filters = new Random(seed).chance(0.5) ? {} : ({ status: 'ACTIVE' } satisfies Filters);
  const { total, counts } = await readSummary(source, filters, ['status']);
  tally['summaries compared'] += 1;
  const sum = [...counts('status').values()].reduce((a, b) => a + b, 0);
  if (sum !== total) throw new Difference(`the counts of a summary add up to ${sum}, its total is ${total}`);
  if (isSummaryDuring(before, change, filters, 'status', counts('status'))) return;
  throw new Difference(
    `a summary beside a change is of no one moment of the change: ${JSON.stringify([...counts('status')])}`,
  );
}
