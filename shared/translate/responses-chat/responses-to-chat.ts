import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { ChatReader } from '../upstreams/chat/chat-reader.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { responsesToChatRequest } from './responses-to-chat-request.ts';

export const responsesToChat: Translation = {
  client: responsesFormat,
  upstream: chatUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: responsesToChatRequest,
  translateReply: (body, answerContext) => {
    const writer = new ResponsesAnswerWriter(answerContext);
    const ending = new ChatReader(answerContext, writer).readWhole(body);
    return { body: writer.response, ending };
  },
  createStream: (answerContext) => new ChatReader(answerContext, new ResponsesAnswerWriter(answerContext)),
  findUrlPath: findImagePath,
};

/**
 * Returns the JSON path of the first image with this URL in a Responses request, such as `input[0].content[1].image_url`; undefined if
 * there is no such image.
 */
function findImagePath({ input }: JsonObject, url: string): string | undefined {
  return findPathIn(input, 'input', url);
}

function findPathIn(items: Json | undefined, path: string, url: string): string | undefined {
  for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isJsonObject(item)) continue;
    const here = `${path}[${index}]`;
    if (item['image_url'] === url) return `${here}.image_url`;
    const inside =
      findPathIn(item['content'], `${here}.content`, url) ?? findPathIn(item['output'], `${here}.output`, url);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
