import { hash } from 'node:crypto';
import type { ComputedBody } from '../reply/send-computed.ts';

/** Bytes per second of the demo engine's own sound. */
const defaultBytesPerSecond = 8000;

/** Text and duration of a sound file. The same file always gets the same text. */
export interface Transcript {
  text: string;
  seconds: number;
}

/** Returns a text that identifies a sound file. The demo engine cannot transcribe, because it has no weights. */
export function transcribe(name: string, content: Buffer): Transcript {
  const isWave = content.length >= 44 && content.toString('latin1', 0, 4) === 'RIFF';
  const bytesPerSecond = isWave ? content.readUInt32LE(28) : defaultBytesPerSecond;
  const seconds =
    Math.round((1000 * content.length) / (bytesPerSecond > 0 ? bytesPerSecond : defaultBytesPerSecond)) / 1000;
  const digest = hash('sha256', content).slice(0, 12);
  return { text: `I heard ${content.length} bytes of “${name}”, ${digest}.`, seconds };
}

/** Writes a transcript in one of OpenAI's formats: as plain text or subtitles, otherwise as JSON. */
export function writeTranscript({ text, seconds }: Transcript, format: string, task: string): ComputedBody {
  const usage = { type: 'duration', seconds: Math.ceil(seconds) };
  const writeTimes = (mark: ',' | '.'): string =>
    `${formatSubtitleTime(0, mark)} --> ${formatSubtitleTime(seconds, mark)}\n${text}\n\n`;
  const plainTexts: Record<string, string> = {
    text: `${text}\n`,
    srt: `1\n${writeTimes(',')}`,
    vtt: `WEBVTT\n\n${writeTimes('.')}`,
  };
  const plain = plainTexts[format];
  if (plain !== undefined)
    return { text, usage, plain: { text: plain, type: format === 'vtt' ? 'text/vtt' : 'text/plain; charset=utf-8' } };
  if (format !== 'verbose_json') return { text, usage };
  return {
    task,
    language: 'english',
    duration: seconds,
    text,
    segments: [{ id: 0, start: 0, end: seconds, text }],
    usage,
  };
}

/**
 * Formats a time for subtitles.
 * @param mark separator before the milliseconds: a comma in SRT, a dot in WebVTT
 */
function formatSubtitleTime(seconds: number, mark: ',' | '.'): string {
  const milliseconds = Math.round(seconds * 1000);
  const padToTwo = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const [hours, minutes, rest] = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60];
  return `${padToTwo(hours)}:${padToTwo(minutes)}:${padToTwo(rest)}${mark}${String(milliseconds % 1000).padStart(3, '0')}`;
}
