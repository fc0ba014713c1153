import type { Json, JsonObject } from '#shared/core/json.ts';
import { unsupportedInChat, unsupportedInMessages } from '#shared/translate/unsupported.ts';

/** Fields of a chat request that a CLI has nothing for, and that an answer is judged by. */
const chatFields: Readonly<Record<string, string>> = {
  tools: 'tools of the client',
  functions: 'tools of the client',
  logprobs: 'a wish for log probabilities',
  top_logprobs: 'a wish for log probabilities',
  audio: 'a wish for audio output',
  web_search_options: 'a search that the upstream itself runs',
};

/** The same for a messages request. */
const messagesFields: Readonly<Record<string, string>> = {
  tools: 'tools of the client',
  output_format: 'a format of the answer',
  mcp_servers: 'servers of tools that the upstream itself runs',
  container: 'a container that the upstream itself runs',
};

/**
 * Refuses what a CLI cannot do. Tools that the model must not use anyway are no reason to.
 * @throws RouterError `unsupported_parameter` that names the field
 */
export function refuseChatFields(request: JsonObject): void {
  const { response_format: format, tool_choice: choice } = request;
  for (const [field, what] of Object.entries(chatFields)) {
    if (isAsked(request[field]) && !(field === 'tools' && choice === 'none')) throw unsupportedInChat(field, what);
  }
  if (typeOf(format) !== undefined && typeOf(format) !== 'text') {
    throw unsupportedInChat('response_format', `the format '${typeOf(format)}'`);
  }
}

/** The same for a messages request. */
export function refuseMessagesFields(request: JsonObject): void {
  const { output_config: config, tool_choice: choice } = request;
  for (const [field, what] of Object.entries(messagesFields)) {
    const unused = field === 'tools' && typeOf(choice) === 'none';
    if (isAsked(request[field]) && !unused) throw unsupportedInMessages(field, what);
  }
  const { format } = (config ?? {}) as JsonObject;
  if (isAsked(format)) throw unsupportedInMessages('output_config.format', 'a format of the answer');
}

function isAsked(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0) return false;
  return !(Array.isArray(value) && value.length === 0);
}

function typeOf(value: Json | undefined): string | undefined {
  const { type } = (value ?? {}) as JsonObject;
  return typeof type === 'string' ? type : undefined;
}
