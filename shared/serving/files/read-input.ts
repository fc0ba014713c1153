import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import { RouterError } from '#shared/core/errors.ts';
import { splitIntoChunks } from '#shared/core/split-into-chunks.ts';
import type { Files } from '#shared/files/files.ts';
import type { InputFile, InputKind } from '#shared/formats/file-inputs.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Text types with names that do not begin with `text/`. */
const textTypes: ReadonlySet<string> = new Set([
  'application/json',
  'application/jsonl',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/javascript',
]);

/** Bytes that are encoded at once. A multiple of three, so that the base64 has no padding between the pieces. */
const pieceBytes = 192 * 1024;

/**
 * Reads a file as the input of a request.
 * @param options the path of the file's id in the request, the bytes that are counted for the file, and a listener that is called and
 * awaited before more bytes than these are kept
 * @throws RouterError `invalid_request` for a file that no model can read, or an error of `onMore` or `Files.read`
 */
export async function readInput(
  files: Pick<Files, 'read'>,
  file: FileRecord,
  { param, countedBytes, onMore }: { param: string; countedBytes: number; onMore: (bytes: number) => Promise<void> },
): Promise<InputFile> {
  const { name, mimeType } = file;
  const kind = findKind(mimeType);
  if (kind === undefined)
    throw new RouterError(
      'invalid_request',
      `The file '${name}' of the type ${mimeType} cannot be an input: it must be a PDF, a text, or an image (PNG, JPEG, GIF, WebP).`,
      { param },
    );
  const encode = kind === 'text' ? createTextEscaper() : encodeBase64;
  const content: Buffer[] = [];
  let bytesLeft = countedBytes;
  for await (const piece of splitIntoChunks(await files.read(file), pieceBytes)) {
    const encoded = encode(piece);
    bytesLeft -= encoded.length;
    if (kind === 'text' && bytesLeft < 0) {
      await onMore(-bytesLeft);
      bytesLeft = 0;
    }
    content.push(encoded);
  }
  return { name, mimeType, kind, content: Buffer.concat(content) };
}

function findKind(mimeType: string): InputKind | undefined {
  if (imageTypes.has(mimeType)) return 'image';
  if (mimeType === 'application/pdf') return 'pdf';
  return mimeType.startsWith('text/') || textTypes.has(mimeType) ? 'text' : undefined;
}

function encodeBase64(piece: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(piece).toString('base64'), 'latin1');
}

/** Encodes UTF-8 for a string of a JSON text. A character may begin in one piece and end in the next. */
function createTextEscaper(): (piece: Uint8Array) => Buffer {
  const decoder = new TextDecoder();
  return (piece) => Buffer.from(JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1));
}
