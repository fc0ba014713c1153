import { copyStartOfText, type RequestSigns } from '../request-signs.ts';
import type { ResponsesItem, ResponsesMessage, ResponsesRequest } from './request.ts';

const toolItems: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);

const clientToolTypes: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

export function readResponsesSigns({ instructions, input, tools }: ResponsesRequest): RequestSigns {
  const items = Array.isArray(input) ? input : [];
  const messages = items.filter(isMessage);
  const firstInstructions = messages.find(({ role }) => role === 'system' || role === 'developer');
  const lastUserMessage = messages.findLast(({ role }) => role === 'user');
  const addedTools = items.flatMap(
    (item) => (toolItems.has(item.type) ? (item as { tools?: typeof tools }).tools : []) ?? [],
  );
  return {
    instructions: copyStartOfText(typeof instructions === 'string' ? instructions : findFirstText(firstInstructions)),
    lastText: copyStartOfText(typeof input === 'string' ? input : findFirstText(lastUserMessage)),
    hasOwnTools: [...(tools ?? []), ...addedTools].some(({ type }) => clientToolTypes.has(type)),
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
