import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';

/**
 * Refuses stream options in a request without a stream, as OpenAI's API does.
 * @throws RouterError `invalid_request`
 */
export function checkStreamOptions(request: { stream?: Json; stream_options?: Json }): void {
  const { stream, stream_options: options } = request;
  if (options === undefined || options === null || stream === true) return;
  const message = "Invalid value for 'stream_options': it is only allowed when 'stream' is true.";
  throw new RouterError('invalid_request', message, { param: 'stream_options' });
}
