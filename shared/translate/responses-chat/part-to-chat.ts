import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ChatPart } from '#shared/formats/chat/request.ts';
import type { ResponsesPart } from '#shared/formats/responses/request.ts';
import type { ModelTraits } from '../translation.ts';
import { createUnsupportedChatError } from '../unsupported.ts';

const dataUrl = /^data:([\w.+/-]+)(?:;[\w=.-]+)*;base64,/i;

/**
 * Translates a content part, of a message or of a tool's output, to a content part of a chat message.
 * @param param path of the content part, for errors
 * @throws RouterError `unsupported_parameter` for a content part that the chat format does not have; `invalid_request` for an image whose
 * URL is not `http:`, `https:` or `data:`
 */
export function partToChat(part: ResponsesPart, param: string, traits: ModelTraits): ChatPart {
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
      return toImagePart(part, param);
    case 'input_file':
      return toFilePart(part, param, traits);
    default:
      throw createUnsupportedChatError(
        `${param}.type`,
        `content of type '${(part as JsonObject & { type: string }).type}'`,
      );
  }
}

function toImagePart({ image_url: url, detail }: ResponsesPart & { type: 'input_image' }, param: string): ChatPart {
  if (typeof url !== 'string') throw createUnsupportedChatError(param, 'an image by its id');
  if (!/^(?:https?|data):/i.test(url)) {
    const path = `${param}.image_url`;
    throw new RouterError('invalid_request', `Invalid value for '${path}': expected an http or https address.`, {
      param: path,
    });
  }
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } };
}

/** Translates a file. A text file becomes text, after the name of the file. A PDF stays a file if the upstream accepts files. */
function toFilePart(
  part: ResponsesPart & { type: 'input_file' },
  param: string,
  { takesFiles }: ModelTraits,
): ChatPart {
  const { file_data: data, file_url: url, filename } = part;
  if (typeof data !== 'string')
    throw createUnsupportedChatError(param, `a file by its ${typeof url === 'string' ? 'URL' : 'id'}`);
  const match = dataUrl.exec(data);
  const mediaType = match?.[1]?.toLowerCase() ?? '';
  if (match && (mediaType.startsWith('text/') || mediaType === 'application/json')) {
    const text = Buffer.from(data.slice(match[0].length), 'base64').toString();
    return { type: 'text', text: typeof filename === 'string' ? `${filename}\n\n${text}` : text };
  }
  if (takesFiles === true && mediaType === 'application/pdf') {
    return { type: 'file', file: { filename: filename ?? 'document.pdf', file_data: data } };
  }
  throw createUnsupportedChatError(
    `${param}.file_data`,
    match ? `a file of type '${mediaType}'` : 'a file that is no data URL',
  );
}
