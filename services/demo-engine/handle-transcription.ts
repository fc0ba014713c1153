import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { transcribe, formatSubtitleTime, type Transcript } from './media/transcribe.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords } from './request/demo-options.ts';
import { transcriptionRequestSchema } from './request/media-requests.ts';
import { parseBody, readFormBody } from './request/read-body.ts';

type Handle = (engine: Engine, http: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/**
 * Creates the handler of `POST /v1/audio/transcriptions` or `/v1/audio/translations`. The body is a multipart form. The prompt may contain
 * a `[demo …]` line.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export function createTranscriptionHandler(operation: 'transcribe' | 'translate'): Handle {
  return async (engine, http, response, signal) => {
    const { fields, files } = await readFormBody(http);
    const { model, prompt = '', response_format: format = 'json' } = parseBody(transcriptionRequestSchema, fields);
    requireModel(engine, model, operation);
    const file = files.find(({ field }) => field === 'file');
    if (!file || file.content.length === 0)
      throw new RouterError('invalid_request', 'The form has no sound.', { param: 'file' });
    const demo = resolveDemoOptions(engine.defaults, undefined, findDemoWords(prompt));
    const facts = {
      id: `${operation}-${randomUUID()}`,
      model,
      stream: false,
      messages: 1,
      tools: 0,
      fields: [...Object.keys(fields), 'file'],
      request_id: http.headers['x-request-id']?.toString() ?? null,
      prompt_tokens: 0,
    };
    const transcript = transcribe(file.name, file.content);
    await answerWithSlot(engine, { facts, demo, response, signal }, async () => {
      const plain = toPlainText(transcript, format);
      if (plain === undefined || demo.fault !== 'none')
        return sendComputed(toJsonBody(transcript, format, operation), demo, response, signal);
      if (demo.first_token_delay_ms > 0) await sleep(demo.first_token_delay_ms, undefined, { signal });
      const type = format === 'vtt' ? 'text/vtt' : 'text/plain; charset=utf-8';
      response.writeHead(200, { 'content-type': type }).end(plain);
      return 'finished';
    });
  };
}

function toJsonBody({ text, seconds }: Transcript, format: string, task: string) {
  const usage = { type: 'duration', seconds: Math.ceil(seconds) };
  if (format !== 'verbose_json') return { text, usage };
  const segments = [{ id: 0, start: 0, end: seconds, text }];
  return { task, language: 'english', duration: seconds, text, segments, usage };
}

/** Returns the answer as plain text or subtitles. Returns undefined for a JSON format. */
function toPlainText({ text, seconds }: Transcript, format: string): string | undefined {
  if (format === 'text') return `${text}\n`;
  if (format === 'srt') return `1\n${formatSubtitleTime(0, ',')} --> ${formatSubtitleTime(seconds, ',')}\n${text}\n\n`;
  if (format === 'vtt')
    return `WEBVTT\n\n${formatSubtitleTime(0, '.')} --> ${formatSubtitleTime(seconds, '.')}\n${text}\n\n`;
  return undefined;
}
