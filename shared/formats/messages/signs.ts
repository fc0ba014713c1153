import { copyStartOfText, type RequestSigns } from '../request-signs.ts';
import type { MessagesRequest } from './request.ts';

export function readMessagesSigns({ system, messages, tools }: MessagesRequest): RequestSigns {
  const blocks = Array.isArray(system) ? system : [];
  return {
    instructions: copyStartOfText(typeof system === 'string' ? system : (blocks[0]?.text ?? '')),
    lastInstructions: blocks.slice(-4).map(({ text }) => copyStartOfText(text ?? '')),
    lastText: copyStartOfText(findLastText(messages)),
    hasOwnTools: (tools ?? []).some(({ type }) => type === undefined || type === null || type === 'custom'),
    cachesInstructions: blocks.some((block) => (block['cache_control'] ?? null) !== null),
    isCompaction: false,
  };
}

function findLastText(messages: MessagesRequest['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.findLast((block) => block.type === 'text')?.text ?? '';
}
