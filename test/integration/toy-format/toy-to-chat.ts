import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';
import type { Ending, AnswerContext, StreamTranslation, Translation } from '#shared/translate/translation.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { readChatEventError } from '#shared/translate/upstreams/chat/upstream-error.ts';
import { toyFormat, type ToyRequest } from './toy-format.ts';

/** Toy clients on chat upstreams. */
export const toyToChat: Translation = {
  client: toyFormat,
  upstream: chatUpstream,
  passesHeaders: false,
  translateRequest: (body, { model }) => {
    const { say, live, most } = body as ToyRequest & JsonObject;
    return {
      model,
      messages: [{ role: 'user', content: say }],
      ...(most !== undefined && { max_tokens: most }),
      ...(live && { stream: true, stream_options: { include_usage: true } }),
    };
  },
  translateReply: (body, answerContext) => {
    const { body: chat, ending } = chatToChat.translateReply(body, answerContext);
    const [choice] = Array.isArray(chat['choices']) ? chat['choices'] : [];
    const message = isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : {};
    const { promptTokens, completionTokens } = ending.usage;
    return {
      body: { id: answerContext.id, said: message['content'] ?? '', in: promptTokens, out: completionTokens },
      ending,
    };
  },
  createStream: (answerContext) => new ToyToChatStream(answerContext),
};

class ToyToChatStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  /** Reads the upstream's stream to its end for usage and finish reason. */
  readonly #chat: StreamTranslation;
  #events = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#chat = chatToChat.createStream(answerContext);
  }

  get hasContent(): boolean {
    return this.#chat.hasContent;
  }

  translateEvent(data: string): string {
    const parsed: unknown = data === '[DONE]' ? undefined : JSON.parse(data);
    this.#chat.translateEvent(data);
    if (!isJsonObject(parsed)) return '';
    const failure = readChatEventError(parsed);
    if (failure) throw failure;
    const [choice] = Array.isArray(parsed['choices']) ? parsed['choices'] : [];
    const delta = isJsonObject(choice) && isJsonObject(choice['delta']) ? choice['delta'] : {};
    return typeof delta['content'] === 'string' && delta['content'] !== ''
      ? this.#next('piece', { text: delta['content'] })
      : '';
  }

  translateEnd(): { text: string; ending: Ending } {
    const { ending } = this.#chat.translateEnd();
    if (this.#events === 0) throw new RouterError('upstream_failed', 'Nothing was said.');
    const { promptTokens, completionTokens } = ending.usage;
    return {
      text: this.#next('over', { id: this.#answerContext.id, in: promptTokens, out: completionTokens }),
      ending,
    };
  }

  #next(name: string, fields: object): string {
    this.#events += 1;
    return writeNamedEvent(name, JSON.stringify({ n: this.#events, ...fields }));
  }
}
