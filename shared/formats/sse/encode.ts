/** One event without a name, as the chat format sends them. `data` is JSON text, so it has no line breaks. */
export function dataEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** One event with its name, as the messages format sends them. `data` is JSON text, so it has no line breaks. */
export function namedEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** What ends every complete stream of the chat format. */
export const chatDone = dataEvent('[DONE]');

/** Sign of life for a chat client that waits; a comment, because its clients take any event for a chunk. */
export const chatKeepAlive = ': keep-alive\n\n';

/** Sign of life for a messages client that waits. */
export const messagesKeepAlive = namedEvent('ping', '{"type":"ping"}');
