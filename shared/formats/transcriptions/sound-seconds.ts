import type { FormFile } from '../form-file.ts';

/** Bytes per second of sound in most compressed files: 128 kbit/s. */
const usualBytesPerSecond = 16_000;

/**
 * Returns the duration of the sound in a file, in whole seconds. For a WAV file, computes it from the byte rate in the header; for any
 * other file, estimates it. Used before the transcription, and if the upstream does not report the duration.
 */
export function estimateSoundSeconds({ bytes, start }: Pick<FormFile, 'bytes' | 'start'>): number {
  const head = Buffer.from(start, 'base64');
  const isWave =
    head.length >= 32 && head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 16) === 'WAVEfmt ';
  const bytesPerSecond = isWave ? head.readUInt32LE(28) : usualBytesPerSecond;
  return Math.max(1, Math.ceil(bytes / (bytesPerSecond > 0 ? bytesPerSecond : usualBytesPerSecond)));
}
