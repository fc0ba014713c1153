import { createReadStream } from 'node:fs';
import { RouterError } from '#shared/core/errors.ts';
import { readLines } from '#shared/formats/batches/read-lines.ts';
import { toLocalFileError, type ClientContext } from '../client/client-context.ts';
import { CallError } from '../client/call-error.ts';
import { sendFile } from '../client/send-file.ts';
import { withInput, type LocalInput } from '../client/with-input.ts';
import type { BatchObject } from './batch-object.ts';
import { watchBatch } from './watch-batch.ts';

/**
 * `rtr batches submit <file> [--window <hours>] [--watch]`: uploads a file of requests and creates a batch of them.
 * @throws RouterError `invalid_request` for a file that cannot be read, or if its first non-blank line is not a request
 * @throws CallError
 */
export async function submitBatch(
  context: ClientContext,
  file: string,
  { window, watch = false }: { window: string; watch?: boolean },
): Promise<void> {
  const { client, print, json } = context;
  const { endpoint, input } = await withInput(context, file, async (local) => {
    const endpoint = await readEndpoint(local);
    const { id: input } = await sendFile(context, local, 'batch');
    return { endpoint, input };
  });
  const batch = await client
    .call<BatchObject>('POST', '/batches', { input_file_id: input, endpoint, completion_window: window })
    .catch(async (error: unknown) => {
      // The file is deleted only if the router refused the batch: without an answer, the batch may exist.
      if (error instanceof CallError && error.status >= 400 && error.status < 500)
        await client.call('DELETE', `/files/${input}`).catch(() => undefined);
      throw error;
    });
  if (json) print(JSON.stringify(batch));
  else print(`Batch ${batch.id} was created.${watch ? '' : ` Follow it with: rtr batches watch ${batch.id}`}`);
  if (watch) await watchBatch(context, batch.id);
}

/**
 * Returns the endpoint of the first request. All requests of a batch must have the same endpoint. Errors count lines as the router does.
 */
async function readEndpoint({ path, displayName }: LocalInput): Promise<string> {
  const content = createReadStream(path);
  try {
    for await (const { bytes, number } of readLines(content, Infinity)) {
      const endpoint = readUrl(bytes.toString());
      if (endpoint !== undefined) return endpoint;
      const example = '{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {…}}';
      const message = `Line ${number} of ${displayName} is not a request. Each line must look like ${example}.`;
      throw new RouterError('invalid_request', message);
    }
  } catch (error) {
    throw toLocalFileError(displayName, error);
  } finally {
    content.destroy();
  }
  throw new RouterError('invalid_request', `${displayName} has no requests.`);
}

function readUrl(line: string): string | undefined {
  try {
    const request: unknown = JSON.parse(line);
    const isObject = typeof request === 'object' && request !== null;
    return isObject && 'url' in request && typeof request.url === 'string' ? request.url : undefined;
  } catch {
    return undefined;
  }
}
