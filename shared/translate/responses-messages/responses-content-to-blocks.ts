import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import type { ResponsesPart } from '#shared/formats/responses/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { toDocumentBlock, toImageSource, isWebAddress } from '../upstreams/messages/media-blocks.ts';
import { createCacheMark } from '../upstreams/messages/translated-history.ts';

/**
 * Translates the content of a message, or the output of a tool, to blocks. Omits empty texts, because the `messages` format refuses empty
 * texts.
 * @param param path of the content, for errors
 * @throws RouterError `unsupported_parameter` for a content part that the `messages` format does not have
 */
export function responsesContentToBlocks(
  content: string | readonly ResponsesPart[] | null | undefined,
  param: string,
): MessagesBlock[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index) => {
    const block = partToBlock(part, `${param}[${index}]`);
    if (block.type === 'text' && block.text === '') return [];
    const { prompt_cache_breakpoint: mark } = part;
    return [isJsonObject(mark) ? { ...block, cache_control: createCacheMark(mark['ttl']) } : block];
  });
}

function partToBlock(part: ResponsesPart, param: string): MessagesBlock {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image':
      if (typeof part.image_url !== 'string') throw createUnsupportedChatError(param, 'an image by its id');
      return { type: 'image', source: toImageSource(part.image_url, `${param}.image_url`) };
    case 'input_file':
      return toFileBlock(part, param);
    default:
      throw createUnsupportedChatError(
        `${param}.type`,
        `content of type '${(part as JsonObject & { type: string }).type}'`,
      );
  }
}

function toFileBlock(part: JsonObject, param: string): MessagesBlock {
  const { file_url: url, file_data: data, filename } = part;
  if (typeof data === 'string') return toDocumentBlock(part, `${param}.file_data`);
  if (typeof url !== 'string') throw createUnsupportedChatError(param, 'a file by its id');
  if (!isWebAddress(url)) return toDocumentBlock({ file_data: url, filename }, `${param}.file_url`);
  const title = typeof filename === 'string' ? { title: filename } : {};
  return { type: 'document', source: { type: 'url', url }, ...title };
}
