import { RouterError } from '#shared/core/errors.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { CustomIds } from '#shared/formats/batches/read-lines.ts';
import { ArraySplitter } from './array-splitter.ts';

const lineFeed = Buffer.from('\n');

export interface RequestLinesOptions {
  format: Pick<BatchFormat, 'readLine' | 'maxLines'>;
  /** Field of the body that contains the requests. */
  field: string;
  maxLineBytes: number;
  /** Called after the last line with the number of lines. */
  onEnd: (lines: number) => void;
}

/**
 * Yields the requests that the body of a new batch contains, each as a line of a file.
 * @throws RouterError `invalid_json`, `invalid_request`, `missing_parameter`, `body_too_large`, and the errors of the body
 */
export async function* readRequestLines(
  body: AsyncIterable<Uint8Array>,
  { format, field, maxLineBytes, onEnd }: RequestLinesOptions,
): AsyncGenerator<Uint8Array> {
  const splitter = new ArraySplitter(field, maxLineBytes);
  const ids = new CustomIds();
  for await (const piece of body) {
    for (const element of splitter.push(piece)) {
      const path = `${field}.${ids.size}`;
      const { customId } = readElement(format, element, path);
      if (!ids.add(customId))
        throw invalidRequest(`${path}.custom_id`, `custom_id ${JSON.stringify(customId)} is not unique.`);
      if (ids.size > format.maxLines) throw invalidRequest(field, `A batch has ${format.maxLines} requests at most.`);
      yield Buffer.concat([element, lineFeed]);
    }
  }
  splitter.end();
  if (ids.size === 0) throw invalidRequest(field, 'A batch has one request at least.');
  onEnd(ids.size);
}

function readElement(format: Pick<BatchFormat, 'readLine'>, element: Buffer, path: string): { customId: string } {
  try {
    return format.readLine(element, undefined);
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    const { code, message, param } = error;
    throw new RouterError(code, `${path}: ${message}`, { param: param === undefined ? path : `${path}.${param}` });
  }
}

function invalidRequest(param: string, message: string): RouterError {
  return new RouterError('invalid_request', `${param}: ${message}`, { param });
}
