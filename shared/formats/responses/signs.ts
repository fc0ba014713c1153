import { copyStartOfText, type RequestSigns, digestConversation, type Conversation } from '../request-signs.ts';
import { listRequestTools } from './hosted/request-tools.ts';
import type { ResponsesItem, ResponsesMessage, ResponsesRequest } from './request.ts';

const clientToolTypes: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

export function readResponsesSigns(request: ResponsesRequest): RequestSigns {
  const { instructions, input } = request;
  const items = Array.isArray(input) ? input : [];
  const messages = items.filter(isMessage);
  const firstInstructions = messages.find(({ role }) => role === 'system' || role === 'developer');
  const lastUserMessage = messages.findLast(({ role }) => role === 'user');
  return {
    instructions: copyStartOfText(typeof instructions === 'string' ? instructions : findFirstText(firstInstructions)),
    lastText: copyStartOfText(typeof input === 'string' ? input : findFirstText(lastUserMessage)),
    hasOwnTools: listRequestTools(request).some(({ tool }) => clientToolTypes.has(tool.type)),
    cachesInstructions: false,
    isCompaction: items.at(-1)?.type === 'compaction_trigger',
  };
}

function isMessage(item: ResponsesItem): item is ResponsesMessage {
  return item.type === undefined || item.type === 'message';
}

function findFirstText(message: ResponsesMessage | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((part) => ('text' in part ? part.text : undefined));
  return texts.find((text) => typeof text === 'string') ?? '';
}

/** Identifies the conversation of a request by its start and, if the request has one, by its `prompt_cache_key`. */
export function digestResponsesConversation({
  instructions,
  input,
  prompt_cache_key: name,
}: ResponsesRequest): Conversation {
  return digestConversation(name, listStartTexts(instructions ?? '', input ?? ''));
}

/** Yields the texts of the instructions and of the user's first message. */
function* listStartTexts(instructions: string, input: string | ResponsesItem[]): Generator<string> {
  yield instructions;
  if (typeof input === 'string') {
    yield input;
    return;
  }
  for (const item of input) {
    const { role, content } = item as { role?: string; content?: unknown };
    if (role === undefined || role === 'assistant') continue;
    if (typeof content === 'string') yield content;
    else if (Array.isArray(content))
      for (const { text } of content as { text?: unknown }[]) if (isText(text)) yield text;
    if (role === 'user') return;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
