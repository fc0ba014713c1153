import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ClientFormat, ClientRoute } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { formFileSchema, type FormFile } from '../json-request.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

/** Answer formats other than JSON. The router relays such answers unchanged. */
const plainFormats: ReadonlySet<string> = new Set(['text', 'srt', 'vtt']);

/** Maximum tokens per second of speech: four words of two tokens each. */
const tokensPerSecond = 8;

/** The fields of a transcription request that the router reads. */
export type TranscriptionRequest = JsonObject & {
  model: string;
  file: FormFile & JsonObject;
  prompt?: string;
  response_format?: string;
};

/**
 * The fields of a transcription request that the router reads (OpenAI API reference, "Create transcription"). All other fields pass
 * unchecked.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  file: formFileSchema,
  prompt: z.string().optional(),
  response_format: z.string().min(1).optional(),
  stream: z.string().optional(),
});

/** OpenAI's transcriptions format: the model writes down the speech in an audio file (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = createSoundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});

/**
 * OpenAI's audio translations: the model writes down the speech of an audio file in English (OpenAI API reference, "Create translation").
 */
export const audioTranslationsFormat = createSoundFormat('audio-translations', {
  path: '/audio/translations',
  operation: 'translate',
});

/** Creates a format in which a model writes down speech. The request is a form. The answer is JSON, a text or subtitles. */
function createSoundFormat(
  name: string,
  { path, operation }: { path: string; operation: ClientRoute['operation'] },
): ClientFormat {
  return createEventlessFormat<TranscriptionRequest>({
    name,
    routes: [{ path, operation, isForm: true }],
    answerIdPrefix: `${operation}-`,
    schema,
    check: ({ stream }) => {
      if (stream === 'true')
        throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': the text comes whole.", {
          param: 'stream',
        });
    },
    estimateInput: ({ prompt = '' }) => ({ inputTokens: estimateTokens(prompt) }),
    readParameters: ({ file, response_format: format = '' }) => {
      const seconds = estimateSoundSeconds(file);
      return { stream: plainFormats.has(format), maxOutput: seconds * tokensPerSecond, units: { seconds } };
    },
    sendsBytes: true,
  });
}

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
