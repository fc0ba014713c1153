import type { JsonObject } from '#shared/core/json.ts';
import type { ChatContent, ChatPart } from '#shared/formats/chat/request.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import { unsupportedInChat } from '../unsupported.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const dataUrl = /^data:([\w.+/-]+)(?:;[\w=.-]+)*;base64,/i;

/**
 * Translates a chat message's content to blocks. Empty texts are omitted, because the messages format refuses them.
 * @param param path of the content, for errors
 * @throws RouterError `unsupported_parameter` for a part that the messages format does not have
 */
export function chatContentToBlocks(content: ChatContent | null | undefined, param: string): MessagesBlock[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, at) => {
    const block = partToBlock(part, `${param}[${at}]`);
    if (block.type === 'text' && block.text === '') return [];
    const { cache_control: cacheControl } = part;
    return [cacheControl === undefined ? block : { ...block, cache_control: cacheControl }];
  });
}

function partToBlock(part: ChatPart, param: string): MessagesBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'image_url':
      return { type: 'image', source: imageSource(part.image_url.url, `${param}.image_url.url`) };
    case 'file':
      return documentBlock(part.file, `${param}.file`);
    default:
      throw unsupportedInChat(`${param}.type`, `content of type '${part.type}'`);
  }
}

function imageSource(
  url: string,
  param: string,
): JsonObject & ({ type: 'base64'; media_type: string; data: string } | { type: 'url'; url: string }) {
  if (/^https?:\/\//i.test(url)) return { type: 'url', url };
  const match = dataUrl.exec(url);
  const mediaType = match?.[1]?.toLowerCase().replace('image/jpg', 'image/jpeg');
  if (!match || mediaType === undefined || !imageTypes.has(mediaType)) {
    throw unsupportedInChat(param, 'an image other than JPEG, PNG, GIF or WebP, by URL or as base64');
  }
  return { type: 'base64', media_type: mediaType, data: url.slice(match[0].length) };
}

function documentBlock(file: JsonObject, param: string): MessagesBlock {
  const { file_data: data, filename } = file;
  const match = typeof data === 'string' ? dataUrl.exec(data) : null;
  const mediaType = match?.[1]?.toLowerCase();
  const title = typeof filename === 'string' ? { title: filename } : {};
  if (typeof data === 'string' && match && mediaType === 'application/pdf') {
    const source = { type: 'base64' as const, media_type: mediaType, data: data.slice(match[0].length) };
    return { type: 'document', source, ...title };
  }
  if (typeof data === 'string' && match && mediaType === 'text/plain') {
    const text = Buffer.from(data.slice(match[0].length), 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: mediaType, data: text }, ...title };
  }
  throw unsupportedInChat(param, 'a file other than a PDF or plain text as base64');
}
