import type { FormFile } from '../form-file.ts';

/** Bytes of a second of sound in most compressed files: 128 kbit/s. */
const usualRate = 16_000;

/**
 * How long the sound in a file is, in whole seconds: what a WAV file says of itself, and otherwise an estimate. For what counts
 * before anybody has heard it, and where the upstream does not report it.
 */
export function soundSeconds({ bytes, start }: Pick<FormFile, 'bytes' | 'start'>): number {
  const head = Buffer.from(start, 'base64');
  const isWave =
    head.length >= 32 && head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 16) === 'WAVEfmt ';
  const rate = isWave ? head.readUInt32LE(28) : usualRate;
  return Math.max(1, Math.ceil(bytes / (rate > 0 ? rate : usualRate)));
}
