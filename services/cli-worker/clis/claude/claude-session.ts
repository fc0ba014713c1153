import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart, Outcome } from '../../answer/answer-part.ts';
import type { Conversation, Turn, TurnBlock } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { lineReader } from '../../process/line-reader.ts';
import { parseProtocolLine } from '../../process/parse-protocol-line.ts';
import type { CliSession } from '../cli.ts';
import { ClaudeAnswer } from './claude-answer.ts';

/** What is waited for among the lines that it prints. */
interface Expectation {
  /** Takes a line and tells whether it was what is waited for. May throw, which fails the wait. */
  hear: (message: JsonObject) => boolean;
  fail: (error: unknown) => void;
}

/**
 * A conversation with a Claude Code process, over JSON lines.
 *
 * States: starting → ready (answers control requests) → told (system prompt and history are in) → asked → over. Turns of the
 * assistant are taken as they come, turns of the user are queued; so after each of the user's the line that says it was
 * taken is waited for.
 */
export class ClaudeSession implements CliSession {
  readonly process: CliProcess;
  readonly #startModel: string;
  readonly #expected = new Set<Expectation>();
  #requests = 0;

  constructor(process: CliProcess, startModel: string) {
    this.process = process;
    this.#startModel = startModel;
    process.onOutput = lineReader((line) => this.#onMessage(parseProtocolLine(line)));
    void process.failure().then((error) => {
      for (const { fail } of this.#expected) fail(error);
    });
  }

  /** Resolves when it answers. */
  async ready(): Promise<void> {
    await this.#control({ subtype: 'apply_flag_settings', settings: {} });
  }

  async converse(
    { model, system, history, question, effort }: Conversation,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const interrupt = (): void => this.#send(controlRequest('interrupt', { subtype: 'interrupt' }));
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      signal.throwIfAborted();
      // It takes what it is told in order, so nothing of this is waited for before the next is sent.
      const set = Promise.all(
        settings(system, model === this.#startModel ? undefined : model, effort).map((request) =>
          this.#control(request),
        ),
      );
      const [outcome] = await Promise.all([this.#talk(history, question, onPart, signal), set]);
      return outcome;
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  async #talk(
    history: readonly Turn[],
    question: TurnBlock[],
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (const { role, blocks } of history) {
      signal.throwIfAborted();
      if (role === 'user') await this.#tell(blocks);
      else this.#send({ type: 'assistant', message: { role, content: blocks } });
    }
    signal.throwIfAborted();
    const answer = new ClaudeAnswer(onPart);
    const ended = this.#expect((message) => answer.hear(message));
    this.#send({ type: 'user', message: { role: 'user', content: question.map(asSpeech) } });
    return ended;
  }

  /** Puts in a turn of the user's that is not to be answered. */
  async #tell(content: TurnBlock[]): Promise<void> {
    const taken = this.#expect((message) => (message['type'] === 'result' ? message : undefined));
    this.#send({ type: 'user', message: { role: 'user', content: content.map(asSpeech) }, shouldQuery: false });
    await taken;
  }

  async #control(request: JsonObject & { subtype: string }): Promise<void> {
    this.#requests += 1;
    const id = `r${this.#requests}`;
    const answered = this.#expect(({ type, response }) =>
      type === 'control_response' && isJsonObject(response) && response['request_id'] === id ? response : undefined,
    );
    this.#send(controlRequest(id, request));
    const { subtype, error } = await answered;
    if (subtype === 'success') return;
    throw new RouterError('upstream_failed', `The CLI refused '${request.subtype}'.`, { cause: error });
  }

  /**
   * Waits for a line.
   * @param hear takes each line until it returns something for one
   * @throws what `hear` throws, and RouterError when the process ends
   */
  async #expect<T>(hear: (message: JsonObject) => T | undefined): Promise<T> {
    if (this.process.hasEnded) throw await this.process.failure();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const expectation: Expectation = {
      hear: (message) => {
        const heard = hear(message);
        if (heard !== undefined) resolve(heard);
        return heard !== undefined;
      },
      fail: reject,
    };
    this.#expected.add(expectation);
    return promise.finally(() => this.#expected.delete(expectation));
  }

  #onMessage(message: JsonObject): void {
    if (message['type'] === 'control_request') {
      this.#refuse(message);
      return;
    }
    for (const expectation of this.#expected) {
      try {
        if (expectation.hear(message)) return;
      } catch (error) {
        expectation.fail(error);
        return;
      }
    }
  }

  /** It asks for a permission, or for anything else of a person's: nobody is there. */
  #refuse({ request_id: id, request }: JsonObject): void {
    const asksPermission = isJsonObject(request) && request['subtype'] === 'can_use_tool';
    const response: JsonObject = asksPermission
      ? { subtype: 'success', request_id: id, response: { behavior: 'deny', message: 'No tool may be used here.' } }
      : { subtype: 'error', request_id: id, error: 'Nobody is there to answer.' };
    this.#send({ type: 'control_response', response });
  }

  #send(message: JsonObject & { type: Json }): void {
    this.process.write(`${JSON.stringify(message)}\n`);
  }
}

/** What sets it up for a conversation. None of it makes it ask its upstream anything. */
function settings(
  system: string,
  model: string | undefined,
  effort: string | undefined,
): (JsonObject & { subtype: string })[] {
  const flags: JsonObject = {
    ...(model !== undefined && { model }),
    ...(effort !== undefined && effort !== 'none' && { effortLevel: effort === 'minimal' ? 'low' : effort }),
  };
  return [
    // Without a field, its own prompt would be used; with an empty one, none is.
    { subtype: 'initialize', systemPrompt: system },
    ...(effort === 'none' ? [{ subtype: 'set_max_thinking_tokens', max_thinking_tokens: 0 }] : []),
    ...(Object.keys(flags).length > 0 ? [{ subtype: 'apply_flag_settings', settings: flags }] : []),
  ];
}

/** A text that begins with a slash would be taken for a command to Claude Code; with a space before it is not. */
function asSpeech(block: TurnBlock): TurnBlock {
  return block.type === 'text' && block.text.startsWith('/') ? { ...block, text: ` ${block.text}` } : block;
}

function controlRequest(id: string, request: JsonObject): JsonObject & { type: string } {
  return { type: 'control_request', request_id: id, request };
}
