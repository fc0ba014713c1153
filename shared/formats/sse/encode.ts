/** Writes an event without a name. `data` is JSON text, so it has no line breaks. */
export function writeDataEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** Writes an event with a name. `data` is JSON text, so it has no line breaks. */
export function writeNamedEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** The headers of every stream of server-sent events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies that follow nginx's convention do not buffer the stream.
  'x-accel-buffering': 'no',
} as const;
