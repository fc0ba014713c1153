import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { splitIntoTokens } from '../answer/split-into-tokens.ts';
import { answerWithSlot } from '../answer-with-slot.ts';
import { requireModel } from '../engine.ts';
import { createComputedHandler, type Handle } from '../handle-computed.ts';
import { streamSound } from '../reply/stream-sound.ts';
import { findDemoWords, removeDemoLine, resolveDemoOptions } from '../request/demo-options.ts';
import { parseBody, readFormBody, readJsonBody } from '../request/read-body.ts';
import { drawPicture } from './draw-picture.ts';
import { transcribe, writeTranscript } from './transcribe.ts';

// The schemas contain the fields that the demo engine reads. It ignores other fields. `resolveDemoOptions` checks `demo`.
const imagesRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.int().min(1).max(10).nullish(),
  /** The size of a square, such as `256x256`. Any other text gives a small picture. */
  size: z.string().nullish(),
  demo: z.unknown().optional(),
});
/** All fields are texts in a form. */
const imageEditsRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.string().optional(),
});
/** All fields are texts in a form. */
const transcriptionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
});
/** The engine has one voice, and produces WAV. */
const speechRequestSchema = z.looseObject({
  model: z.string(),
  input: z.string(),
  demo: z.unknown().optional(),
});

/** Handles `POST /v1/images/generations`. */
export const handleImages = createComputedHandler('draw', 'img', async (http, requireServed, signal) => {
  const body = await readJsonBody(http);
  const { model, prompt, n, size, demo } = parseBody(imagesRequestSchema, body);
  requireServed(model);
  if (prompt === '') throw new RouterError('invalid_request', 'The prompt is empty.', { param: 'prompt' });
  const promptTokens = await countTokens(prompt, signal);
  const draw = (at: number) => drawPicture(`${at} ${removeDemoLine(prompt)}`, readSide(size));
  return {
    model,
    demo,
    demoText: prompt,
    fields: Object.keys(body),
    inputs: 1,
    promptTokens,
    compute: () => ({ output_format: 'png', ...writePictures(n ?? 1, draw, promptTokens) }),
  };
});

/** Returns the number of pixels of a side, up to 2048. Returns undefined for a text that is not the size of a square. */
function readSide(size: string | null | undefined): number | undefined {
  const side = Number(/^(\d{1,4})x\1$/.exec(size ?? '')?.[1]);
  return side >= 1 && side <= 2048 ? side : undefined;
}

function writePictures(count: number, draw: (at: number) => Buffer, promptTokens: number) {
  return {
    created: Math.floor(Date.now() / 1000),
    data: Array.from({ length: count }, (_, at) => ({ b64_json: draw(at).toString('base64') })),
    usage: { input_tokens: promptTokens, output_tokens: 0, total_tokens: promptTokens },
  };
}

/** Handles `POST /v1/images/edits`. The body is a form. The same pictures and the same text always give the same result. */
export const handleImageEdits = createComputedHandler('redraw', 'img', async (http, requireServed, signal) => {
  const { fields, files } = await readFormBody(http);
  const { model, prompt, n = '1' } = parseBody(imageEditsRequestSchema, fields);
  requireServed(model);
  if (files.length === 0 || files.some(({ content }) => content.length === 0))
    throw new RouterError('invalid_request', 'A picture is empty, or there is none.', { param: 'image' });
  const promptTokens = await countTokens(prompt, signal);
  const fileDigests = files.map(({ field, content }) => `${field} ${hash('sha256', content)}`).join(' ');
  const draw = (at: number) => drawPicture(`${at} ${removeDemoLine(prompt)} ${fileDigests}`);
  return {
    model,
    demo: undefined,
    demoText: prompt,
    fields: [...Object.keys(fields), ...files.map(({ field }) => field)],
    inputs: 1,
    promptTokens,
    compute: () => writePictures(Number(n), draw, promptTokens),
  };
});

/** Creates the handler of `POST /v1/audio/transcriptions` or `/v1/audio/translations`. The body is a form. */
export function createTranscriptionHandler(operation: 'transcribe' | 'translate'): Handle {
  return createComputedHandler(operation, operation, async (http, requireServed) => {
    const { fields, files } = await readFormBody(http);
    const { model, prompt = '', response_format: format = 'json' } = parseBody(transcriptionRequestSchema, fields);
    requireServed(model);
    const file = files.find(({ field }) => field === 'file');
    if (!file || file.content.length === 0)
      throw new RouterError('invalid_request', 'The form has no sound.', { param: 'file' });
    return {
      model,
      demo: undefined,
      demoText: prompt,
      fields: [...Object.keys(fields), 'file'],
      inputs: 1,
      promptTokens: 0,
      compute: () => writeTranscript(transcribe(file.name, file.content), format, operation),
    };
  });
}

/** Handles `POST /v1/audio/speech`. The answer has a tone for each token of the input. */
export const handleSpeech: Handle = async (engine, http, response, signal) => {
  const body = await readJsonBody(http);
  const { model, input, demo: options } = parseBody(speechRequestSchema, body);
  requireModel(engine, model, 'speak');
  if (input === '') throw new RouterError('invalid_request', 'The input is empty.', { param: 'input' });
  const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(input));
  const facts = {
    id: `speech-${randomUUID()}`,
    model,
    stream: true,
    messages: 1,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: await countTokens(input, signal),
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, (countedFacts) => {
    const onSent = (tokens: number): void => {
      countedFacts.completion_tokens += tokens;
    };
    return streamSound(splitIntoTokens(removeDemoLine(input)), demo, onSent, response, signal);
  });
};
