/** What became of the rows of one load. */
export interface LoadCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** The counts of a load of so many rows that made these changes. */
export function countLoaded(rows: number, changes: readonly { readonly before?: unknown }[]): LoadCounts {
  const inserted = changes.filter(({ before }) => before === undefined).length;
  return { inserted, updated: changes.length - inserted, unchanged: rows - changes.length };
}
