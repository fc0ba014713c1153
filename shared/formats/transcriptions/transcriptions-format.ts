import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, ClientRoute, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest, formFileSchema, type FormFile } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { PlainStream } from '../sse/streamed-answer.ts';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** Answer formats other than JSON. The router relays such answers unchanged. */
const plainFormats: ReadonlySet<string> = new Set(['text', 'srt', 'vtt']);

/** Maximum tokens per second of speech: four words of two tokens each. */
const tokensPerSecond = 8;

/** OpenAI's transcriptions format: the model writes down the speech in an audio file (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = createSoundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});

/** Creates a format in which a model writes down speech. The request is a form. The answer is JSON, a text or subtitles. */
function createSoundFormat(
  name: string,
  { path, operation }: { path: string; operation: ClientRoute['operation'] },
): ClientFormat {
  return {
    name,
    api: openaiApi,
    routes: [{ path, operation, isForm: true }],
    passedHeaders: [],
    answerIdPrefix: `${operation}-`,
    read: (body) =>
      readJsonRequest(body, (parsed, skim) => toParameters(skim(() => parseTranscriptionRequest(parsed)))),
    estimateInput: (request: JsonObject) => computeNeeds(request as TranscriptionRequest).inputTokens,
    errorAnswer: createOpenaiErrorAnswer,
    answerHeaders: ['content-type'],
    limitHeaders: createOpenaiLimitHeaders,
    openStream: () => new PlainStream(),
  };
}

function toParameters(request: TranscriptionRequest): RequestParameters {
  const seconds = estimateSoundSeconds(request.file);
  return {
    model: request.model,
    stream: plainFormats.has(request.response_format ?? ''),
    needs: computeNeeds(request),
    maxOutput: seconds * tokensPerSecond,
    units: { seconds },
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ prompt = '' }: TranscriptionRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(prompt) };
}

/** The fields of a transcription request that the router reads. `parseTranscriptionRequest` checks them. */
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

/**
 * Checks the form fields of a transcription request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's name
 */
function parseTranscriptionRequest(body: unknown): TranscriptionRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream === 'true')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': the text comes whole.", {
      param: 'stream',
    });
  return body as TranscriptionRequest;
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

/**
 * OpenAI's audio translations: the model writes down the speech of an audio file in English (OpenAI API reference, "Create translation").
 */
export const audioTranslationsFormat = createSoundFormat('audio-translations', {
  path: '/audio/translations',
  operation: 'translate',
});
