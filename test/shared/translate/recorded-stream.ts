import { readFileSync } from 'node:fs';
import type { StreamTranslation } from '#shared/translate/translation.ts';
import { runBytes } from './run-stream.ts';

/** The bytes of a stream that a Responses upstream sends, by fixture folder and name. */
export function recordedStream(folder: 'providers/openai-responses' | 'engines/llama-cpp', name: string): Buffer {
  return readFileSync(`test/fixtures/${folder}/${name}.sse`);
}

/** What a client receives of a recorded stream, in pieces of 97 bytes. */
export function runRecorded(translation: StreamTranslation, bytes: Buffer): string {
  const pieces = Array.from({ length: Math.ceil(bytes.length / 97) }, (_, at) =>
    bytes.subarray(at * 97, (at + 1) * 97),
  );
  return runBytes(translation, pieces);
}
