import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { FilePartFormat, PlaceholderFile } from '../file-inputs.ts';
import { openaiFiles } from '../openai/openai-files.ts';
import { formatOpenaiPath } from '../openai/problem-error.ts';

export const responsesFileParts: FilePartFormat = {
  fields: ['input', 'content', 'output'],
  readFileId: ({ type, file_id: id }) =>
    (type === 'input_file' || type === 'input_image') && typeof id === 'string' ? id : undefined,
  insertFile,
  writeParam: formatOpenaiPath,
  notFound: openaiFiles.notFound,
};

function insertFile(part: JsonObject, { kind, name, mimeType, data }: PlaceholderFile, param: string): JsonObject {
  const { type, file_id: _id, filename: _name, ...rest } = part;
  if (kind === 'image') return { ...rest, type: 'input_image', image_url: `data:${mimeType};base64,${data}` };
  if (type === 'input_image')
    throw new RouterError('invalid_request', `Invalid '${param}.file_id': the file '${name}' is no image.`, {
      param: `${param}.file_id`,
    });
  // All upstreams accept text, but most accept no text files.
  if (kind === 'text') return { ...rest, type: 'input_text', text: `${name}\n\n${data}` };
  return { ...rest, type: 'input_file', filename: name, file_data: `data:${mimeType};base64,${data}` };
}
