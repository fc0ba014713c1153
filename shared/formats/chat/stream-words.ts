import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { dataEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';
import { chatErrorBody } from './error.ts';
import type { RouterError } from '#shared/core/errors.ts';

/** Ends every complete stream. */
export const chatDone = dataEvent('[DONE]');

/**
 * The end of a complete stream. The usage is part of the last chunk, which has the finish reason.
 * @param last the last chunk, without usage
 * @param inOwnChunk whether the usage comes in a chunk of its own, without choices, as from OpenAI
 */
export function chatEnding(last: JsonObject, usage: JsonObject, inOwnChunk = false): string {
  if (!inOwnChunk) return `${dataEvent(JSON.stringify({ ...last, usage }))}${chatDone}`;
  const { id, object, created, model } = last;
  const own = { id, object, created, model, choices: [], usage };
  return `${dataEvent(JSON.stringify(last))}${dataEvent(JSON.stringify(own))}${chatDone}`;
}

/** Whether a request asks for the usage of a stream, in the chunk that OpenAI sends it in. */
export function asksForUsage({ stream, stream_options: options }: JsonObject): boolean {
  return stream === true && isJsonObject(options) && options['include_usage'] === true;
}

/** What the router adds to a stream of chunks. A keep-alive is a comment, because clients read any event as a chunk. */
export const chatStreamWords: StreamWords = {
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatErrorEvent,
  tokensIn: chatTokensIn,
  emptyBytes: emptyChunkBytes,
};

/** Bytes of `"role":"assistant",`, which only the first chunk has. */
const roleBytes = 19;

/** Tokens of the relayed part of a stream, estimated from the number of chunks and their bytes. */
function chatTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const chunks = Math.max(0, events - 1);
  return estimateTokensOfPieces(chunks, bytes - firstEventBytes - chunks * emptyChunkBytes(firstEventBytes));
}

/** The first chunk of most streams has no text. */
function emptyChunkBytes(firstEventBytes: number): number {
  return Math.max(0, firstEventBytes - roleBytes);
}

/** The event that ends a stream that failed midway. It has no name, because clients read a named one as a chunk. */
export function chatErrorEvent(error: RouterError): string {
  return dataEvent(JSON.stringify(chatErrorBody(error)));
}
