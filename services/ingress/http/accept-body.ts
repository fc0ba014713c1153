import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Sends `100 Continue` to a client that holds back its body (`Expect: 100-continue`) as soon as a handler begins to read the body. By then,
 * the key and the length have been checked. A client whose request is refused earlier receives the error, and sends no body.
 */
export function acceptBodyWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
