import { machineFacts } from '../support/results.ts';

/** Where in a report a page is, as a share of its pages. */
export const depths = { 'page 1': 0, '50 %': 0.5, '99 %': 0.99 } as const;
export type Depth = keyof typeof depths;

type ByDepth = Readonly<Record<Depth, number>>;

/** The pages of one filter on one store. */
export interface Measured {
  readonly engine: string;
  readonly records: number;
  readonly filter: string;
  readonly total: number;
  /**
   * Median CPU time of a page with its total in microseconds: over HTTP; from parsing to the
   * complete response; and with OFFSET and count(*).
   */
  readonly http: ByDepth;
  readonly inside: ByDepth;
  readonly offset: ByDepth;
}

const ratio = (a: number, b: number): string => (a / b).toFixed(a / b < 10 ? 2 : 0);

/** The page of results. */
export function toMarkdown(
  measured: readonly Measured[],
  { size, rounds, oldRounds }: { readonly size: number; readonly rounds: number; readonly oldRounds: number },
): string {
  return `# A page by number, with its exact total

\`npm run bench -- deep\`, ${size} records a page, for the tenant with a fifth of all records, a tenth of which share one createdDate. CPU time of service and database together: medians of
${rounds} rounds (${oldRounds} of OFFSET and count(*)), with all cases alternating. "HTTP": a service in a separate process, without the response cache, with remembered ranges. "Inside": from parsing to the complete
response, without remembered ranges. Shares are of the full pages. Measured after vacuum and analyze.

${machineFacts('PostgreSQL 18 over loopback with 2 GB of shared buffers, fsync off')}. The machine was shared: only the ratios are reliable.

| engine | records | filter | total | page 1, HTTP, µs | 50 % ÷ page 1, HTTP | inside | 99 % ÷ page 1, HTTP | inside | OFFSET ÷ inside, page 1 | 50 % | 99 % |
|---|---|---|---|---|---|---|---|---|---|---|---|
${measured.map(depthRow).join('\n')}

Ratio of the same page of the same filter between sizes of the database, HTTP:

| engine | filter | records | page 1 | 99 % |
|---|---|---|---|---|
${growthRows(measured).join('\n')}

${goals(measured).join('\n')}`;
}

function depthRow({ engine, records, filter, total, http, inside, offset }: Measured): string {
  const share = (side: ByDepth, depth: Depth): string => ratio(side[depth], side['page 1']);
  const deep = (['50 %', '99 %'] as const).flatMap((depth) => [share(http, depth), share(inside, depth)]);
  const against = (Object.keys(depths) as Depth[]).map((depth) => ratio(offset[depth], inside[depth]));
  const cells = [engine, records.toLocaleString('en'), filter, total.toLocaleString('en'), http['page 1'].toFixed(0)];
  return `| ${[...cells, ...deep, ...against].join(' | ')} |`;
}

/** The measurement of the same filter with the fewest records, unless it is this one. */
function baseOf(measured: readonly Measured[], { engine, filter, records }: Measured): Measured | undefined {
  const smallest = Math.min(...measured.map((each) => each.records));
  if (records === smallest) return undefined;
  return measured.find((each) => each.engine === engine && each.filter === filter && each.records === smallest);
}

function growthRows(measured: readonly Measured[]): string[] {
  return measured.flatMap((each) => {
    const base = baseOf(measured, each);
    if (base === undefined) return [];
    const sizes = `${base.records.toLocaleString('en')} → ${each.records.toLocaleString('en')}`;
    const growth = (['page 1', '99 %'] as const).map((depth) => ratio(each.http[depth], base.http[depth]));
    return [`| ${[each.engine, each.filter, sizes, ...growth].join(' | ')} |`];
  });
}

/** The largest ratios of each engine, with the most records. */
function goals(measured: readonly Measured[]): string[] {
  const largest = Math.max(...measured.map(({ records }) => records));
  return [...new Set(measured.map(({ engine }) => engine))].map((engine) => {
    const own = measured.filter((each) => each.engine === engine && each.records === largest);
    const deep = Math.max(...own.map(({ inside }) => inside['99 %'] / inside['page 1']));
    const growth = own.flatMap((each) => {
      const base = baseOf(measured, each);
      return base === undefined
        ? []
        : (['page 1', '99 %'] as const).map((depth) => each.http[depth] / base.http[depth]);
    });
    const grown = growth.length === 0 ? '' : `; largest growth from the smallest: ${Math.max(...growth).toFixed(2)}`;
    return `- ${engine}, ${largest.toLocaleString('en')} records: largest 99 % ÷ page 1, inside: ${deep.toFixed(2)}${grown}`;
  });
}
