import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { formFileSchema, type FormFile } from '#shared/formats/form-file.ts';
import type { EncodedRequest } from '../upstream-format.ts';

/**
 * Encodes a request as a form (RFC 7578): its texts, numbers and booleans, then its files.
 * @param boundary a text that occurs in none of them
 */
export function formBody(request: JsonObject, boundary: string): EncodedRequest {
  const fields: Buffer[] = [];
  const files: Buffer[] = [];
  const line = (text: string): Buffer => Buffer.from(`${text}\r\n`);
  for (const [name, value] of Object.entries(request)) {
    const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
    for (const each of Array.isArray(value) ? value : [value]) {
      const file = fileOf(each);
      if (file) {
        const head = `${disposition}; filename="${quoted(file.name)}"\r\ncontent-type: ${oneLine(file.type)}\r\n`;
        files.push(line(head), Buffer.from(file.data, 'base64'), line(''));
      } else if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean')
        fields.push(line(`${disposition}\r\n\r\n${String(each)}`));
    }
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: [...fields, ...files, line(`--${boundary}--`)],
  };
}

function fileOf(value: Json | undefined): FormFile | undefined {
  return isJsonObject(value) ? formFileSchema.safeParse(value).data : undefined;
}

/** Escapes a name as browsers do in forms (HTML, "Multipart form data"). */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function oneLine(type: string): string {
  return type.replaceAll(/[\r\n]/g, '');
}
