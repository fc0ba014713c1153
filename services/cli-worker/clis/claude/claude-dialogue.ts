import type { JsonObject } from '#shared/core/json.ts';
import { chatToMessages } from '#shared/translate/chat-messages/chat-to-messages.ts';
import { messagesToMessages } from '#shared/translate/same-format/messages-to-messages.ts';
import { responsesToMessages } from '#shared/translate/responses-messages/responses-to-messages.ts';
import { assembleMessage } from '#shared/translate/upstreams/messages/assemble-message.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import type { Translation } from '#shared/translate/translation.ts';
import type { Dialogue } from '../../answer/dialogue.ts';
import { readClaudeRequest, type ClaudeRequest, type ClientParams } from './claude-request.ts';

/** The dialogue with Claude Code, which prints the events of its upstream, in the `messages` format, as they arrive. */
export const claudeDialogue: Dialogue<ClaudeRequest, JsonObject> = {
  upstream: messagesUpstream,
  translations: [
    adaptTranslation(chatToMessages, { turns: 'messages', format: 'response_format' }),
    adaptTranslation(messagesToMessages, { turns: 'messages', format: 'output_config.format' }),
    adaptTranslation(responsesToMessages, { turns: 'input', format: 'text.format' }),
  ],
  encodePiece: (event) => JSON.stringify(event),
  encodeEnd: () => [],
  encodeWhole: assembleMessage,
};

function adaptTranslation(translation: Translation, params: ClientParams): Translation<ClaudeRequest> {
  return {
    ...translation,
    passesHeaders: false,
    translateRequest: (body, traits) => {
      // Claude Code sets the output limit of each model itself.
      const translated = translation.translateRequest(body, { ...traits, takesFiles: true, limitsItself: true });
      return readClaudeRequest(translated, traits, params);
    },
  };
}
