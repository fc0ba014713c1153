import { request as send, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Relayed {
  headers?: Record<string, string | number>;
  /** Replaces the request's own body. */
  body?: Buffer;
}

/**
 * Passes a request on to the server at an address, and its answer back. Each end ends with the other.
 * @returns the request to the server
 */
export function relay(
  server: string,
  request: IncomingMessage,
  response: ServerResponse,
  { headers, body }: Relayed = {},
): ClientRequest {
  const { method = 'GET', url = '/' } = request;
  const length = body && { 'content-length': body.length };
  const onward = send(
    `${server}${url}`,
    { method, headers: { ...request.headers, ...length, ...headers } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    },
  );
  onward.once('error', () => response.destroy());
  response.once('close', () => onward.destroy());
  if (body) onward.end(body);
  else request.pipe(onward);
  return onward;
}
