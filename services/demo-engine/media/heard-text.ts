import { hash } from 'node:crypto';

/** Samples of a second in the sound that the demo engine makes, of one byte each. */
const usualRate = 8000;

/** What is in a file of sound. The same file always gets the same text. */
export interface Heard {
  text: string;
  seconds: number;
}

/** "Hears" a file: it has no weights, so it says what identifies the file. */
export function hear(name: string, content: Buffer): Heard {
  const isWave = content.length >= 44 && content.toString('latin1', 0, 4) === 'RIFF';
  const rate = isWave ? content.readUInt32LE(28) : usualRate;
  const seconds = Math.round((1000 * content.length) / (rate > 0 ? rate : usualRate)) / 1000;
  const digest = hash('sha256', content).slice(0, 12);
  return { text: `I heard ${content.length} bytes of “${name}”, ${digest}.`, seconds };
}

/** A time as subtitles have it. @param mark between seconds and milliseconds: a comma in SRT, a dot in WebVTT */
export function timeOf(seconds: number, mark: ',' | '.'): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const [hours, minutes, rest] = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60];
  return `${two(hours)}:${two(minutes)}:${two(rest)}${mark}${String(milliseconds % 1000).padStart(3, '0')}`;
}
