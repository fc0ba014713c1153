import type { JsonObject } from '#shared/core/json.ts';
import type { ChatToolChoice } from '#shared/formats/chat/request.ts';
import type { MessagesToolChoice } from '#shared/formats/messages/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';

export function toChatToolChoice(choice: MessagesToolChoice): ChatToolChoice {
  switch (choice.type) {
    case 'auto':
      return 'auto';
    case 'any':
      return 'required';
    case 'none':
      return 'none';
    case 'tool':
      return { type: 'function', function: { name: choice.name } };
  }
}

export interface TranslatedToolChoice {
  choice: MessagesToolChoice;
  /** Names of the tools to offer; undefined if all tools are offered. */
  allowed?: ReadonlySet<string>;
}

/**
 * Translates a chat tool choice to the `messages` format. `allowed_tools` becomes its mode and a list of names.
 * @throws RouterError `unsupported_parameter` for a choice of tools that only chat upstreams have
 */
export function toMessagesToolChoice(choice: ChatToolChoice): TranslatedToolChoice {
  switch (choice) {
    case 'auto':
      return { choice: { type: 'auto' } };
    case 'none':
      return { choice: { type: 'none' } };
    case 'required':
      return { choice: { type: 'any' } };
    default:
      return translateObjectChoice(choice);
  }
}

function translateObjectChoice(choice: JsonObject & { type: string }): TranslatedToolChoice {
  switch (choice.type) {
    case 'function':
      return { choice: { type: 'tool', name: readName(choice) } };
    case 'allowed_tools': {
      const { mode, tools } = (choice['allowed_tools'] ?? choice) as { mode?: string; tools?: JsonObject[] };
      const allowed = new Set((tools ?? []).map(readName));
      return { choice: { type: mode === 'required' ? 'any' : 'auto' }, allowed };
    }
    default:
      throw createUnsupportedChatError('tool_choice.type', `a choice of type '${choice.type}'`);
  }
}

function readName(tool: JsonObject): string {
  return (tool as { function?: { name?: string } }).function?.name ?? '';
}
