import { readFileSync } from 'node:fs';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import { SseReader } from '#shared/upstream/sse-reader.ts';

/** Passes an upstream's events to a translation, and returns everything that the client receives. */
export function runStream(
  translation: StreamTranslation,
  events: readonly (object | string)[],
): { text: string; ending: Ending } {
  let text = '';
  for (const event of events)
    text += translation.translateEvent(typeof event === 'string' ? event : JSON.stringify(event));
  const end = translation.translateEnd();
  return { text: text + end.text, ending: end.ending };
}

/** Passes an upstream's bytes, in these chunks, to a translation, and returns everything that the client receives. */
export function runBytes(translation: StreamTranslation, chunks: readonly Uint8Array[]): string {
  const reader = new SseReader();
  let text = '';
  for (const chunk of chunks) for (const data of reader.push(chunk)) text += translation.translateEvent(data);
  for (const data of reader.end()) text += translation.translateEvent(data);
  return text + translation.translateEnd().text;
}

/** Returns the recorded bytes of a Responses upstream's stream, by fixture folder and name. */
export function recordedStream(folder: 'providers/openai-responses' | 'engines/llama-cpp', name: string): Buffer {
  return readFileSync(`test/fixtures/${folder}/${name}.sse`);
}

/** Returns everything that a client receives from a recorded stream in pieces of 97 bytes. */
export function runRecorded(translation: StreamTranslation, bytes: Buffer): string {
  const pieces = Array.from({ length: Math.ceil(bytes.length / 97) }, (_, at) =>
    bytes.subarray(at * 97, (at + 1) * 97),
  );
  return runBytes(translation, pieces);
}
