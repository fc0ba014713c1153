import { copyStartOfText, type RequestSigns } from '../request-signs.ts';
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
