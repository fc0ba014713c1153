/** Writes an event without a name. `data` is JSON text, so it has no line breaks. */
export function writeDataEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** Writes an event with a name. `data` is JSON text, so it has no line breaks. */
export function writeNamedEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
