/** At most this many bytes of a file are read to find its first line. */
const typeBytes = 1024 * 1024;

/** Returns the endpoint in the first request of a file; undefined if the first line that is not blank is no request. */
export async function readEndpoint(file: Blob): Promise<string | undefined> {
  const text = await file.slice(0, typeBytes).text();
  const start = text.replace(/^\uFEFF/, '').replace(/^(?:[\t\r ]*\n)+/, '');
  const [line = ''] = start.split('\n', 1);
  // The line is longer than the bytes that were read, so these are not complete JSON. A URL in the usual notation is found nevertheless.
  if (line.length === start.length && file.size > typeBytes) return /"url"\s*:\s*"(\/[^"\\]{1,200})"/.exec(line)?.[1];
  try {
    const request: unknown = JSON.parse(line);
    const isRequest = typeof request === 'object' && request !== null && 'url' in request;
    return isRequest && typeof request.url === 'string' ? request.url : undefined;
  } catch {
    return undefined;
  }
}
