/** How many are asked for at a time. 10,000 records at once keep the process from everything else for 70 ms, so for 15 ms at most. */
const pageSize = 500;

/** Asks for each of many, a page at a time: others have their turn in between. @returns the answers, in the order of what was asked for */
export async function inPages<Asked, Answer>(
  all: readonly Asked[],
  ask: (each: Asked) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < all.length; from += pageSize)
    answers.push(...(await Promise.all(all.slice(from, from + pageSize).map(ask))));
  return answers;
}
