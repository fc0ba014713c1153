import type { ResponsesToolOutput } from '#shared/formats/responses/request.ts';

/** Returns the text that stands before an output that no call asked for, in a message of the user. */
export function labelOutput({ namespace, name }: ResponsesToolOutput): string {
  return `Output of ${[namespace, name].filter((part) => typeof part === 'string').join('.')}:`;
}
