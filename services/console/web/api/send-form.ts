import { ApiFailure, createCsrfHeaders, readFailure } from './call-api.ts';

/** Statuses of answers without a body. */
const statusesWithoutBody = new Set([204, 205, 304]);

/**
 * Sends a form with a file to the API of a client format, as the signed-in person.
 * @param onProgress called with the share that is sent, from 0 to 1
 * @throws ApiFailure
 */
export async function sendForm<Answer>(
  path: string,
  form: FormData,
  { onProgress, signal }: { onProgress: (share: number) => void; signal: AbortSignal },
): Promise<Answer> {
  const cancelled = new ApiFailure(0, 'cancelled', 'The upload was cancelled.');
  if (signal.aborted) throw cancelled;
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  // Only XMLHttpRequest reports the progress of an upload.
  const request = new XMLHttpRequest();
  request.open('POST', path);
  for (const [name, value] of Object.entries(createCsrfHeaders())) request.setRequestHeader(name, value);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
  request.addEventListener('load', () => resolve(toResponse(request)));
  request.addEventListener('error', () =>
    reject(new ApiFailure(0, 'unreachable', 'The upload was cut off. Check that you are connected, then try again.')),
  );
  request.addEventListener('abort', () => reject(cancelled));
  signal.addEventListener('abort', () => request.abort());
  request.send(form);
  const response = await promise;
  if (!response.ok) throw await readFailure(response);
  return (await response.json()) as Answer;
}

function toResponse(request: XMLHttpRequest): Response {
  const { status, responseText } = request;
  const waitSeconds = request.getResponseHeader('retry-after');
  return new Response(statusesWithoutBody.has(status) ? null : responseText, {
    status,
    ...(waitSeconds === null ? {} : { headers: { 'retry-after': waitSeconds } }),
  });
}
