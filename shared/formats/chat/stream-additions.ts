import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { writeDataEvent } from '../sse/encode.ts';
import type { RelayedEventCounter, StreamAdditions } from '../sse/streamed-answer.ts';
import { createChatErrorBody } from '../openai/error.ts';
import type { RouterError } from '#shared/core/errors.ts';

export const chatDone = writeDataEvent('[DONE]');

/**
 * Writes the end of a complete stream. The usage is part of the last chunk, which has the finish reason.
 * @param last the last chunk, without usage
 */
export function writeChatEnding(last: JsonObject, usage: JsonObject): string {
  return `${writeDataEvent(JSON.stringify({ ...last, usage }))}${chatDone}`;
}

/** The router's additions to a stream of chunks. A keep-alive is a comment, because clients read every event as a chunk. */
export const chatStreamAdditions: StreamAdditions = {
  keepAlive: ': keep-alive\n\n',
  errorEvent: writeChatErrorEvent,
  estimateTokens: estimateChatTokens,
  emptyBytes: estimateEmptyChunkBytes,
};

/** Bytes of `"role":"assistant",`, which only the first chunk contains. */
const roleBytes = 19;

/** Estimates the tokens of the relayed part of a stream from the number of chunks and their bytes. */
function estimateChatTokens({ events, bytes, firstEventBytes }: RelayedEventCounter): number {
  const chunks = Math.max(0, events - 1);
  return estimateTokensOfPieces(chunks, bytes - firstEventBytes - chunks * estimateEmptyChunkBytes(firstEventBytes));
}

/** Most streams begin with a chunk without text. Without its role, that chunk has the size of an empty chunk. */
function estimateEmptyChunkBytes(firstEventBytes: number): number {
  return Math.max(0, firstEventBytes - roleBytes);
}

/** Returns the event that ends a stream which failed midway. The event has no name, because clients read a named event as a chunk. */
export function writeChatErrorEvent(error: RouterError): string {
  return writeDataEvent(JSON.stringify(createChatErrorBody(error)));
}
