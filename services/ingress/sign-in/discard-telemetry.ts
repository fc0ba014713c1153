import type { RequestHandler } from 'express';

/** Bytes of a body that are read to be thrown away. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Accepts the telemetry that a program sends to the router that it is signed in to (OTLP over HTTP), and throws it away: a refusal would be
 * an error in the log of every person.
 */
export const discardTelemetry: RequestHandler = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) request.destroy();
  });
  request.once('end', () => response.status(200).json({}));
};
