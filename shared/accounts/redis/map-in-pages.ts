/** Number of reads in a page. Reading 10,000 records at once blocks the process for 70 ms; a page blocks it for 15 ms at most. */
const pageSize = 500;

/**
 * Calls `read` for each of many values, a page at a time, so that other work can run in between.
 * @returns the results, in the order of `all`
 */
export async function mapInPages<Asked, Answer>(
  all: readonly Asked[],
  read: (each: Asked) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < all.length; from += pageSize)
    answers.push(...(await Promise.all(all.slice(from, from + pageSize).map(read))));
  return answers;
}
