import type { SummaryCount } from '../../../client/index.ts';
import { type Column, type Series, sumOf, type Tone } from '../../charts/chart-data.ts';

type Counts = readonly SummaryCount[];

/** The subscriptions of one series, by period. */
export interface Part {
  /** In the legend. */
  readonly label: string;
  readonly tone: Tone;
  readonly counts: Counts;
  /** In the text of a column: "80 active". */
  readonly say: (count: number) => string;
  /** Lists the subscriptions of all periods. */
  readonly href: string;
}

interface StackedCounts {
  /** Months or days, as in the counts. */
  readonly periods: readonly string[];
  /** All subscriptions by period. */
  readonly all: Counts;
  readonly parts: readonly Part[];
  /** The series of those that belong to no part. */
  readonly rest: Omit<Part, 'counts' | 'href'> & { readonly href?: string | undefined };
  readonly nameOf: (period: string) => string;
  readonly labelOf: (period: string) => string;
  /** The text of a column, from the name of its period, its total and what its series say. */
  readonly textOf: (name: string, total: number, details: readonly string[]) => string;
  readonly hrefOf: (period: string) => string;
  /** The periods that are counted in part, by their position. */
  readonly unfinished: readonly number[];
}

/** One column per period, empty ones too, and the series that have any subscription. */
export function stackCounts({ periods, all, parts, rest, ...words }: StackedCounts): {
  readonly columns: Column[];
  readonly series: Series[];
} {
  const { nameOf, labelOf, textOf, hrefOf, unfinished } = words;
  const totals = alignedWith(periods, all);
  const partValues = parts.map(({ counts }) => alignedWith(periods, counts));
  const restValues = totals.map((total, index) => {
    // another revision may have been loaded between two responses
    return Math.max(0, total - sumOf(partValues.map((values) => values[index] ?? 0)));
  });
  const shown = [
    ...parts.map((part, index) => ({ ...part, values: partValues[index] ?? [] })),
    { ...rest, values: restValues },
  ].filter(({ values }) => values.some((value) => value !== 0));
  return {
    columns: periods.map((period, index) => {
      const values = shown.map((series) => series.values[index] ?? 0);
      const name = nameOf(period);
      return {
        key: period,
        name,
        label: labelOf(period),
        text: textOf(name, totals[index] ?? 0, detailsOf(shown, values)),
        values,
        href: hrefOf(period),
        isUnfinished: unfinished.includes(index),
      };
    }),
    series: shown.map(({ label, tone, href, values }) => ({ label, tone, href, total: sumOf(values) })),
  };
}

const detailsOf = (series: readonly Pick<Part, 'say'>[], values: readonly number[]): string[] =>
  series.flatMap(({ say }, index) => (values[index] ? [say(values[index])] : []));

const alignedWith = (periods: readonly string[], counts: Counts): number[] => {
  const byValue = new Map(counts.map(({ value, count }) => [value, count]));
  return periods.map((period) => byValue.get(period) ?? 0);
};
