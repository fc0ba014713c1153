import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { createOpenaiErrorBody } from '../openai/error.ts';
import { writeDataEvent } from '../sse/encode.ts';
import type { RelayedEventCounter, StreamAdditions } from '../sse/streamed-answer.ts';

/** The router's additions to a stream of text completions. Errors and token estimates differ from the chat format. */
export const completionsStreamAdditions: StreamAdditions = {
  ...chatStreamAdditions,
  errorEvent: (error) => writeDataEvent(JSON.stringify(createOpenaiErrorBody(error))),
  estimateTokens: estimateCompletionsTokens,
  emptyBytes: estimateEmptyEventBytes,
};

/** Approximate bytes of the text in the first event. */
const firstTextBytes = 4;

/** Estimates the tokens of the relayed part of a stream from its events and their bytes. Each event has some text. */
function estimateCompletionsTokens({ events, bytes, firstEventBytes }: RelayedEventCounter): number {
  return estimateTokensOfPieces(events, bytes - events * estimateEmptyEventBytes(firstEventBytes));
}

function estimateEmptyEventBytes(firstEventBytes: number): number {
  return Math.max(0, firstEventBytes - firstTextBytes);
}
