import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import type { ModelTraits, Translation } from '#shared/translate/translation.ts';
import { createUnsupportedChatError, createUnsupportedMessagesError } from '#shared/translate/unsupported.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { chatDone, encodeEndChunk, encodePartChunk, buildChatBody } from '../answer/chat-chunks.ts';
import type { Dialogue } from '../answer/dialogue.ts';
import { AnswerLimit, type AnswerLimits } from '../answer/answer-limit.ts';
import type { AnswerPart } from './cli.ts';
import type { ClientWords } from './items-request.ts';

/**
 * Creates the dialogue with a CLI that reads a conversation including its tool calls. The pieces of an answer are written as chunks of the
 * chat format.
 * @param readRequest converts a chat request into a request to the CLI
 * @param modelTraits model traits of every version of the CLI
 */
export function createItemsDialogue<Request extends AnswerLimits>(
  readRequest: (body: JsonObject, traits: ModelTraits, words: ClientWords) => Request,
  modelTraits: Partial<ModelTraits> = {},
): Dialogue<Request, AnswerPart> {
  /** @param refuse throws for unsupported fields that have other names in the chat format */
  const adaptTranslation = (
    translation: Translation,
    words: ClientWords,
    refuse: (body: JsonObject) => void = () => undefined,
  ): Translation<Request> => ({
    ...translation,
    passesHeaders: false,
    translateRequest: (body, targetTraits) => {
      refuse(body);
      const traits = { ...targetTraits, ...modelTraits };
      return readRequest(translation.translateRequest(body, traits), traits, words);
    },
  });
  return {
    upstream: chatUpstream,
    translations: [
      adaptTranslation(chatToChat, {
        turns: 'messages',
        format: 'response_format',
        strict: 'response_format.json_schema.strict',
        unsupported: createUnsupportedChatError,
      }),
      adaptTranslation(messagesToChat, {
        turns: 'messages',
        format: 'output_config.format',
        strict: 'output_config.format',
        unsupported: createUnsupportedMessagesError,
      }),
      adaptTranslation(
        responsesToChat,
        {
          turns: 'input',
          format: 'text.format',
          strict: 'text.format.strict',
          unsupported: createUnsupportedChatError,
        },
        refuseLogprobs,
      ),
    ],
    createLimiter: (request) => new AnswerLimit(request),
    encodePiece: encodePartChunk,
    encodeEnd: (outcome) => [encodeEndChunk(outcome), chatDone],
    encodeWhole: buildChatBody,
  };
}

function refuseLogprobs({ top_logprobs: topLogprobs }: JsonObject): void {
  if (requestsFeature(topLogprobs)) throw createUnsupportedChatError('top_logprobs', 'log probabilities');
}
