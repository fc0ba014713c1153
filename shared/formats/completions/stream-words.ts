import { chatStreamWords } from '../chat/stream-words.ts';
import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { openaiErrorBody } from '../openai/error.ts';
import { dataEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';

/** What the router adds to a stream of completions: the same as to one of chat chunks, but for the words of errors. */
export const completionsStreamWords: StreamWords = {
  ...chatStreamWords,
  errorEvent: (error) => dataEvent(JSON.stringify(openaiErrorBody(error))),
  tokensIn: completionsTokensIn,
  emptyBytes: emptyEventBytes,
};

/** Bytes of the text in the first event, about. */
const firstTextBytes = 4;

/** Tokens of the relayed part of a stream, estimated from the number of events, each of which has some text, and their bytes. */
function completionsTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  return estimateTokensOfPieces(events, bytes - events * emptyEventBytes(firstEventBytes));
}

function emptyEventBytes(firstEventBytes: number): number {
  return Math.max(0, firstEventBytes - firstTextBytes);
}
