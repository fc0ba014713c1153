import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { formFileSchema, type FormFile } from '#shared/formats/json-request.ts';
import type { EncodedRequest } from '../upstream-format.ts';

/**
 * Encodes a request as a form (RFC 7578): first the texts, numbers and booleans, then the files.
 * @param boundary a text that occurs nowhere in the request
 */
export function encodeForm(request: JsonObject, boundary: string): EncodedRequest {
  const fields: Buffer[] = [];
  const files: Buffer[] = [];
  const toLine = (text: string): Buffer => Buffer.from(`${text}\r\n`);
  for (const [name, value] of Object.entries(request)) {
    const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${escapeName(name)}"`;
    for (const each of Array.isArray(value) ? value : [value]) {
      const file = readFormFile(each);
      if (file) {
        const head = `${disposition}; filename="${escapeName(file.name)}"\r\ncontent-type: ${removeLineBreaks(file.type)}\r\n`;
        files.push(toLine(head), Buffer.from(file.data, 'base64'), toLine(''));
      } else if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean')
        fields.push(toLine(`${disposition}\r\n\r\n${String(each)}`));
    }
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: [...fields, ...files, toLine(`--${boundary}--`)],
  };
}

function readFormFile(value: Json | undefined): FormFile | undefined {
  return isJsonObject(value) ? formFileSchema.safeParse(value).data : undefined;
}

/** Escapes a name as browsers do in forms (HTML, "Multipart form data"). */
function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function removeLineBreaks(type: string): string {
  return type.replaceAll(/[\r\n]/g, '');
}
