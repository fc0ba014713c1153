import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/chat-chat/chat-to-chat.ts';
import { isAsked } from '#shared/translate/conversation/is-asked.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import type { Translation } from '#shared/translate/translation.ts';
import { unsupportedInChat, unsupportedInMessages } from '#shared/translate/unsupported.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { chatDone, endChunk, partChunk, wholeAnswer } from '../../answer/chat-chunks.ts';
import type { Dialogue } from '../../answer/dialogue.ts';
import { LimitedAnswer } from '../../answer/limit-answer.ts';
import type { AnswerPart } from '../cli.ts';
import { readCodexRequest, type ClientWords, type CodexRequest } from './codex-request.ts';

/** The dialogue with Codex, which takes items of the Responses format; its answers are written as chat chunks. */
export const codexDialogue: Dialogue<CodexRequest, AnswerPart> = {
  upstream: chatUpstream,
  translations: [
    forCodex(chatToChat, {
      turns: 'messages',
      format: 'response_format',
      strict: 'response_format.json_schema.strict',
      unsupported: unsupportedInChat,
    }),
    forCodex(messagesToChat, {
      turns: 'messages',
      format: 'output_config.format',
      strict: 'output_config.format',
      unsupported: unsupportedInMessages,
    }),
    forCodex(
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

/** @param refuse throws for what the chat format names otherwise */
function forCodex(
  translation: Translation,
  words: ClientWords,
  refuse: (body: JsonObject) => void = () => undefined,
): Translation<CodexRequest> {
  return {
    ...translation,
    passesHeaders: false,
    request: (body, target) => {
      refuse(body);
      return readCodexRequest(translation.request(body, target), target, words);
    },
  };
}

function refuseLogprobs({ top_logprobs: top }: JsonObject): void {
  if (isAsked(top)) throw unsupportedInChat('top_logprobs', 'log probabilities');
}
