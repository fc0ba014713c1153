import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/chat-chat/chat-to-chat.ts';
import { isAsked } from '#shared/translate/conversation/is-asked.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import type { Target, Translation } from '#shared/translate/translation.ts';
import { unsupportedInChat, unsupportedInMessages } from '#shared/translate/unsupported.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { chatDone, endChunk, partChunk, wholeAnswer } from '../answer/chat-chunks.ts';
import type { Dialogue } from '../answer/dialogue.ts';
import { LimitedAnswer } from '../answer/limit-answer.ts';
import type { AnswerPart } from './cli.ts';
import type { AnswerLimits } from '../answer/limit-answer.ts';
import type { ClientWords } from './items-request.ts';

/**
 * Creates the dialogue with a CLI that takes a conversation with its calls of tools; its answers are written as chat chunks.
 * @param read reads a chat request into a request to the CLI
 * @param takes model traits of every version of the CLI
 */
export function itemsDialogue<Request extends AnswerLimits>(
  read: (body: JsonObject, target: Target, words: ClientWords) => Request,
  takes: Partial<Target> = {},
): Dialogue<Request, AnswerPart> {
  /** @param refuse throws for fields that the chat format names differently */
  const from = (
    translation: Translation,
    words: ClientWords,
    refuse: (body: JsonObject) => void = () => undefined,
  ): Translation<Request> => ({
    ...translation,
    passesHeaders: false,
    request: (body, given) => {
      refuse(body);
      const target = { ...given, ...takes };
      return read(translation.request(body, target), target, words);
    },
  });
  return {
    upstream: chatUpstream,
    translations: [
      from(chatToChat, {
        turns: 'messages',
        format: 'response_format',
        strict: 'response_format.json_schema.strict',
        unsupported: unsupportedInChat,
      }),
      from(messagesToChat, {
        turns: 'messages',
        format: 'output_config.format',
        strict: 'output_config.format',
        unsupported: unsupportedInMessages,
      }),
      from(
        responsesToChat,
        { turns: 'input', format: 'text.format', strict: 'text.format.strict', unsupported: unsupportedInChat },
        refuseLogprobs,
      ),
    ],
    limits: (request) => new LimitedAnswer(request),
    event: partChunk,
    ending: (outcome) => [endChunk(outcome), chatDone],
    whole: wholeAnswer,
  };
}

function refuseLogprobs({ top_logprobs: top }: JsonObject): void {
  if (isAsked(top)) throw unsupportedInChat('top_logprobs', 'log probabilities');
}
