import type { Response } from 'express';
import type { RecordingFields } from '#shared/accounts/recordings/recording.ts';
import { isJsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import { maxMessageBytes, type MessagesOutcome } from '#shared/core/tracing/tracing.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import {
  readEvents,
  readJson,
  type MessagePart,
  type MessageParts,
  type TraceMessage,
} from '#shared/formats/message-parts.ts';
import { getRequestContext } from '../http/request-context.ts';
import { fitToBytes } from './fit-to-bytes.ts';
import type { RecordingOutcome } from './lost-recordings.ts';

/** A recorded request and its answer, each cut off at the size limit of recordings. */
export interface RecordedContent extends Pick<
  RecordingFields,
  'id' | 'format' | 'contentType' | 'isRequestCut' | 'isAnswerCut'
> {
  request: Buffer;
  answer: Buffer;
}

/**
 * Outcome of messages that were to be added to a trace: `failed` if they could not be read; `gone` or `lost` if their recording was not
 * stored.
 */
export type TracedOutcome = MessagesOutcome | 'failed' | Extract<RecordingOutcome, 'gone' | 'lost'>;

export interface TraceRecordedParts {
  formats: readonly Pick<ClientFormat, 'name' | 'messageParts'>[];
  count: (outcome: TracedOutcome) => void;
  log: Pick<Logger, 'warn'>;
}

/** Adds the messages of recorded requests to their trace spans. */
export interface RecordedTraces {
  /** Returns whether the messages of a request in this format are sent, if there is memory for them. */
  maySend(response: Response, format: string): boolean;
  /**
   * Adds the messages to the request's span. Call it when the response has closed, before its span ends. A body that was cut off yields no
   * messages. A stream that was cut off yields the messages that it contains. If the recording was not stored, nothing is added, because
   * only the store confirms that the owner still exists.
   * @param outcome the outcome of the recording
   */
  add(response: Response, content: RecordedContent, outcome: RecordingOutcome): void;
}

/** Creates `RecordedTraces`. The attributes follow the semantic conventions for generative AI (OpenTelemetry). */
export function createRecordedTraces({ formats, count, log }: TraceRecordedParts): RecordedTraces {
  const partsByFormat = new Map(formats.map(({ name, messageParts }) => [name, messageParts]));
  const maySend = (response: Response, format: string): boolean =>
    getRequestContext(response).trace?.isSampled === true && partsByFormat.get(format) !== undefined;
  const add = (response: Response, content: RecordedContent, outcome: RecordingOutcome): void => {
    const span = getRequestContext(response).trace;
    const parts = partsByFormat.get(content.format);
    if (!span?.isSampled || !parts) return;
    // Messages are added only if their recording is stored, because messages at a collector cannot be deleted with their owner.
    if (outcome === 'gone' || outcome === 'lost') return count(outcome);
    try {
      const { instructions, inputMessages, outputMessages } = readMessages(content, parts);
      // The end of a conversation says more than its beginning.
      const input = fitToBytes(inputMessages, maxMessageBytes, 'last');
      const output = fitToBytes(outputMessages, maxMessageBytes, 'first');
      const system = fitToBytes(instructions, maxMessageBytes, 'first');
      const cut = [...(content.isRequestCut ? ['request'] : []), ...(content.isAnswerCut ? ['answer'] : [])];
      span.set({
        'rtr.recording_cut': cut.length > 0 ? cut : undefined,
        'rtr.left_out.input_messages': input?.leftOut,
        'rtr.left_out.output_messages': output?.leftOut,
        'rtr.left_out.system_instructions': system?.leftOut,
      });
      const messages = {
        ...(system && { [names.systemInstructions]: system.text }),
        ...(input && { [names.inputMessages]: input.text }),
        ...(output && { [names.outputMessages]: output.text }),
      };
      if (Object.keys(messages).length > 0) span.setMessages(messages, count);
    } catch (error) {
      // A failure in recording must not affect the request.
      count('failed');
      log.warn({ err: error, requestId: content.id }, 'the messages of a recorded request are not in its trace');
    }
  };
  return { maySend, add };
}

function readMessages(
  { request, answer, contentType }: RecordedContent,
  parts: MessageParts,
): { instructions: MessagePart[]; inputMessages: TraceMessage[]; outputMessages: TraceMessage[] } {
  const body = readJson(request.toString());
  const { instructions, messages } = isJsonObject(body) ? parts.request(body) : { instructions: [], messages: [] };
  const text = answer.toString();
  const isStream = contentType?.startsWith('text/event-stream') === true;
  const whole = isStream ? parts.joinEvents(readEvents(text)) : readJson(text);
  return { instructions, inputMessages: messages, outputMessages: isJsonObject(whole) ? parts.answer(whole) : [] };
}
