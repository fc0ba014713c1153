/** Maximum number of bytes to read from a file to find its first request. */
const maxReadBytes = 1024 * 1024;

/** Returns the endpoint in the first request of a file; undefined if the first non-blank line is not a request. */
export async function readEndpoint(file: Blob): Promise<string | undefined> {
  const text = await file.slice(0, maxReadBytes).text();
  const textFromFirstLine = text.replace(/^\uFEFF/, '').replace(/^(?:[\t\r ]*\n)+/, '');
  const [line = ''] = textFromFirstLine.split('\n', 1);
  // If the line is longer than what was read, its JSON is incomplete. A search still finds a URL in the usual notation.
  if (line.length === textFromFirstLine.length && file.size > maxReadBytes)
    return /"url"\s*:\s*"(\/[^"\\]{1,200})"/.exec(line)?.[1];
  try {
    const request: unknown = JSON.parse(line);
    const isRequest = typeof request === 'object' && request !== null && 'url' in request;
    return isRequest && typeof request.url === 'string' ? request.url : undefined;
  } catch {
    return undefined;
  }
}
