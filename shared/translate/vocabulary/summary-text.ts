/** Stands before a summary in the conversations that continue it. */
const introduction = 'Summary of the conversation before this message:\n\n';

/** Returns the text of the user message that replaces a summarized conversation. */
export function summaryText(summary: string): string {
  return introduction + summary;
}
