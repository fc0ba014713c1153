import { startOfText, type RequestSigns } from '../request-signs.ts';
import type { ChatContent, ChatRequest } from './request.ts';

export function chatSigns({ messages, tools }: ChatRequest): RequestSigns {
  const instructions = messages.find(({ role }) => role === 'system' || role === 'developer')?.content;
  const last = messages.findLast(({ role }) => role === 'user')?.content;
  return {
    instructions: startOfText(firstTextOf(instructions)),
    lastText: startOfText(firstTextOf(last)),
    hasOwnTools: (tools ?? []).some(({ type }) => type === 'function'),
    cachesInstructions: false,
    compacts: false,
  };
}

function firstTextOf(content: ChatContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return content?.find((part) => part.type === 'text')?.text ?? '';
}
