import { copyStartOfText, type RequestSigns } from '../request-signs.ts';
import type { ChatContent, ChatRequest } from './request.ts';

const clientToolTypes: ReadonlySet<string> = new Set(['function', 'custom']);

export function readChatSigns({ messages, tools }: ChatRequest): RequestSigns {
  const instructions = messages.find(({ role }) => role === 'system' || role === 'developer')?.content;
  const lastUserContent = messages.findLast(({ role }) => role === 'user')?.content;
  return {
    instructions: copyStartOfText(findFirstText(instructions)),
    lastText: copyStartOfText(findFirstText(lastUserContent)),
    hasOwnTools: (tools ?? []).some(({ type }) => clientToolTypes.has(type)),
    cachesInstructions: false,
    isCompaction: false,
  };
}

function findFirstText(content: ChatContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return content?.find((part) => part.type === 'text')?.text ?? '';
}
