/** Precedes a summary in the conversations that go on with it. */
const introduction = 'Summary of the conversation before this message:\n\n';

/** What a model reads in place of the conversation that a summary stands for, as a message of the user. */
export function summaryText(summary: string): string {
  return introduction + summary;
}
