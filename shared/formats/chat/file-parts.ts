import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { FilePartFormat, PlaceholderFile } from '../file-inputs.ts';
import { openaiFiles } from '../openai/openai-files.ts';
import { formatOpenaiPath } from '../openai/problem-error.ts';

/** How chat requests name files: in content parts of the type `file`. */
export const chatFileParts: FilePartFormat = {
  fields: ['messages', 'content'],
  readFileId: ({ type, file }) =>
    type === 'file' && isJsonObject(file) && typeof file['file_id'] === 'string' ? file['file_id'] : undefined,
  insertFile,
  writeParam: formatOpenaiPath,
  notFound: openaiFiles.notFound,
};

/**
 * Replaces a file id by the content part that most engines accept for the kind of file. Engines that read images or texts do not accept
 * them as `file` parts.
 */
function insertFile(part: JsonObject, { kind, name, mimeType, data }: PlaceholderFile): JsonObject {
  const { type: _type, file: _file, ...rest } = part;
  switch (kind) {
    case 'text':
      return { ...rest, type: 'text', text: `${name}\n\n${data}` };
    case 'image':
      return { ...rest, type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
    case 'pdf':
      return { ...rest, type: 'file', file: { filename: name, file_data: `data:${mimeType};base64,${data}` } };
  }
}
