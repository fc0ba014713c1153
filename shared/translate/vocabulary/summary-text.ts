/** The text before a summary in a continued conversation. */
const introduction = 'Summary of the conversation before this message:\n\n';

/** Writes the user message that replaces a summarized conversation. */
export function writeSummaryText(summary: string): string {
  return introduction + summary;
}
