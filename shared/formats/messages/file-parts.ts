import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { FilePartFormat, PlaceholderFile } from '../file-inputs.ts';
import { messagesFiles } from './messages-files.ts';

export const messagesFileParts: FilePartFormat = {
  fields: ['messages', 'content', 'source', 'system'],
  readFileId: ({ type, source }) => {
    if ((type !== 'image' && type !== 'document') || !isJsonObject(source)) return undefined;
    return source['type'] === 'file' && typeof source['file_id'] === 'string' ? source['file_id'] : undefined;
  },
  insertFile,
  writeParam: (path) => path.join('.'),
  notFound: messagesFiles.notFound,
};

function insertFile(block: JsonObject, { kind, name, mimeType, data }: PlaceholderFile, param: string): JsonObject {
  const isImage = kind === 'image';
  if (isImage !== (block['type'] === 'image')) {
    const kindOfFile = isImage ? "an image, which belongs in a block of the type 'image'" : 'no image';
    throw new RouterError('invalid_request', `${param}.source: the file '${name}' is ${kindOfFile}`, {
      param: `${param}.source`,
    });
  }
  if (isImage) return { ...block, source: { type: 'base64', media_type: mimeType, data } };
  const title = typeof block['title'] === 'string' ? block['title'] : name;
  const source =
    kind === 'pdf' ? { type: 'base64', media_type: mimeType, data } : { type: 'text', media_type: 'text/plain', data };
  return { ...block, title, source };
}
