import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Has a client that waits with its body (`Expect: 100-continue`) send it once something begins to read it, which is after the key
 * and the length are checked. One that is refused before that gets its answer, and sends nothing.
 */
export function acceptWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
