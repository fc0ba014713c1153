import type { RequestHandler } from 'express';

/** Largest body in bytes. The client of a larger body is disconnected. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Accepts and discards the telemetry that a program sends to the router as its gateway (OTLP over HTTP), because a refusal would put an
 * error into every person's log.
 */
export const discardTelemetry: RequestHandler = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) request.destroy();
  });
  request.once('end', () => response.status(200).json({}));
};
