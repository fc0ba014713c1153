import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Maximum bytes of one line, far more than any protocol needs. */
const maxLineBytes = 16 * 1024 * 1024;

const newline = 0x0a;

/**
 * Cuts a program's output into lines. Leaves out empty lines, and keeps an incomplete line until its end comes.
 * @param onLine called with each line, without the line break
 * @returns a function that takes each piece of the output. It throws RouterError `upstream_failed` if a line is too long, and the errors of
 * `onLine`.
 */
export function createLineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  const completeLine = (end: Buffer): string => {
    const line = partial.length === 0 ? end.toString() : Buffer.concat([...partial, end]).toString();
    partial = [];
    partialBytes = 0;
    return line.trim();
  };
  return (chunk) => {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      lines.push(completeLine(chunk.subarray(start, end)));
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    partialBytes += rest.length;
    if (partialBytes > maxLineBytes) throw new RouterError('upstream_failed', 'The CLI printed a line without end.');
    if (rest.length > 0) partial.push(rest);
    for (const line of lines) if (line !== '') onLine(line);
  };
}

/**
 * Reads output in which every line is a JSON object.
 * @returns a function that takes each piece of the output. It throws RouterError `upstream_failed` for any other line. The error does not
 * repeat the line, which may be part of a client's answer.
 */
export function createJsonLineReader(onMessage: (message: JsonObject) => void): (chunk: Buffer) => void {
  return createLineReader((line) => {
    const message = parseJson(line);
    if (!isJsonObject(message)) throw new RouterError('upstream_failed', 'The CLI printed a line that is not JSON.');
    onMessage(message);
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
