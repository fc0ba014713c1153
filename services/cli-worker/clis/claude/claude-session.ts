import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Conversation, Turn, TurnBlock } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { jsonLineReader } from '../../process/line-reader.ts';
import type { AnswerPart, CliSession, Outcome } from '../cli.ts';
import { ClaudeAnswer } from './claude-answer.ts';

/** A wait for one of the process's messages. */
interface Expectation {
  /** Returns whether the message ends the wait. An error that it throws fails the wait. */
  match: (message: JsonObject) => boolean;
  fail: (error: unknown) => void;
}

/**
 * A conversation with a Claude Code process, over JSON lines.
 *
 * States: starting → ready (answers control requests) → prepared (has system prompt and history) → asked → over. Claude Code
 * takes a turn of the assistant at once and queues a turn of the user, so each of the user's turns is followed by a wait for
 * the message that reports it as taken.
 */
export class ClaudeSession implements CliSession {
  readonly process: CliProcess;
  readonly #startModel: string;
  readonly #expected = new Set<Expectation>();
  #requests = 0;

  constructor(process: CliProcess, startModel: string) {
    this.process = process;
    this.#startModel = startModel;
    process.onOutput = jsonLineReader((message) => this.#onMessage(message));
    void process.failure().then((error) => {
      for (const { fail } of this.#expected) fail(error);
    });
  }

  /** Resolves when the process answers control requests. */
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
      // Claude Code takes messages in order, so all are sent before the first is answered.
      const set = Promise.all(
        settings(system, model === this.#startModel ? undefined : model, effort).map((request) =>
          this.#control(request),
        ),
      );
      const [outcome] = await Promise.all([this.#talk(model, history, question, onPart, signal), set]);
      return outcome;
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  async #talk(
    model: string,
    history: readonly Turn[],
    question: TurnBlock[],
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (const { role, blocks } of history) {
      signal.throwIfAborted();
      if (role === 'user') await this.#addUserTurn(blocks);
      // Claude Code drops the thinking of a turn that does not name its model.
      else this.#send({ type: 'assistant', message: { role, model, content: blocks } });
    }
    signal.throwIfAborted();
    const answer = new ClaudeAnswer(onPart);
    const ended = this.#expect((message) => answer.push(message));
    this.#send({ type: 'user', message: { role: 'user', content: question.map(asSpeech) } });
    return ended;
  }

  /** Adds a turn of the user's to the history, without an answer. */
  async #addUserTurn(content: TurnBlock[]): Promise<void> {
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
   * Waits for a message.
   * @param read is called with each message until it returns a value
   * @throws what `read` throws, and RouterError when the process ends
   */
  async #expect<T>(read: (message: JsonObject) => T | undefined): Promise<T> {
    if (this.process.hasEnded) throw await this.process.failure();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const expectation: Expectation = {
      match: (message) => {
        const value = read(message);
        if (value !== undefined) resolve(value);
        return value !== undefined;
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
        if (expectation.match(message)) return;
      } catch (error) {
        expectation.fail(error);
        return;
      }
    }
  }

  /** Refuses a permission, and everything else that needs a person. */
  #refuse({ request_id: id, request }: JsonObject): void {
    const asksPermission = isJsonObject(request) && request['subtype'] === 'can_use_tool';
    const response: JsonObject = asksPermission
      ? { subtype: 'success', request_id: id, response: { behavior: 'deny', message: 'Tools are not allowed.' } }
      : { subtype: 'error', request_id: id, error: 'Not supported.' };
    this.#send({ type: 'control_response', response });
  }

  #send(message: JsonObject & { type: Json }): void {
    this.process.write(`${JSON.stringify(message)}\n`);
  }
}

/** The control requests that prepare a conversation. None of them calls the upstream. */
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
    // Without the field Claude Code uses its own prompt; with an empty one it uses none.
    { subtype: 'initialize', systemPrompt: system },
    ...(effort === 'none' ? [{ subtype: 'set_max_thinking_tokens', max_thinking_tokens: 0 }] : []),
    ...(Object.keys(flags).length > 0 ? [{ subtype: 'apply_flag_settings', settings: flags }] : []),
  ];
}

/** Puts a space before a slash, which would begin a command to Claude Code. */
function asSpeech(block: TurnBlock): TurnBlock {
  return block.type === 'text' && block.text.startsWith('/') ? { ...block, text: ` ${block.text}` } : block;
}

function controlRequest(id: string, request: JsonObject): JsonObject & { type: string } {
  return { type: 'control_request', request_id: id, request };
}
