const pageItems = 500;

/** Reads a whole list page by page: `read` returns up to `limit` items after the last one. */
export async function listAll<T>(
  read: (last: T | undefined, limit: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page: readonly T[] | undefined; page === undefined || page.length === pageItems; ) {
    page = await read(all.at(-1), pageItems);
    all.push(...page);
  }
  return all;
}
