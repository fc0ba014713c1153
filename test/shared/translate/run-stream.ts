import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import { SseReader } from '#shared/upstream/sse-reader.ts';

/** Passes an upstream's events to a translation, and returns all that the client receives. */
export function runStream(
  translation: StreamTranslation,
  events: readonly (object | string)[],
): { text: string; ending: Ending } {
  let text = '';
  for (const event of events) text += translation.event(typeof event === 'string' ? event : JSON.stringify(event));
  const end = translation.end();
  return { text: text + end.text, ending: end.ending };
}

/** The same from an upstream's bytes, in these chunks. */
export function runBytes(translation: StreamTranslation, chunks: readonly Uint8Array[]): string {
  const reader = new SseReader();
  let text = '';
  for (const chunk of chunks) for (const data of reader.push(chunk)) text += translation.event(data);
  for (const data of reader.end()) text += translation.event(data);
  return text + translation.end().text;
}
