import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart, Outcome } from '../../answer/answer-part.ts';
import type { Conversation, TurnBlock } from '../../conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { lineReader } from '../../process/line-reader.ts';
import { parseProtocolLine } from '../../process/parse-protocol-line.ts';
import type { CliSession } from '../cli.ts';
import { ClaudeAnswer } from './claude-answer.ts';

/** What is waited for among the lines that it prints. */
interface Expectation {
  /** Takes a line; undefined when it is not the last one waited for. May throw, which fails the wait. */
  hear: (message: JsonObject) => { value: JsonObject | Outcome } | undefined;
  resolve: (value: JsonObject | Outcome) => void;
  reject: (error: unknown) => void;
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
  #expected: Expectation | undefined;
  #requests = 0;

  constructor(process: CliProcess, startModel: string) {
    this.process = process;
    this.#startModel = startModel;
    process.onOutput = lineReader((line) => this.#onMessage(parseProtocolLine(line)));
    void process.failure().then((error) => this.#settle((expected) => expected.reject(error)));
  }

  /**
   * Resolves when it can take a conversation at once: when it answers, and has taken an empty turn, for which it loads most
   * of what a first turn needs, and which leaves no trace in the conversation.
   */
  async ready(): Promise<void> {
    await this.#control({ subtype: 'apply_flag_settings', settings: {} });
    await this.#tell([]);
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
      // Without a field, its own prompt would be used; with an empty one, none is.
      await this.#control({ subtype: 'initialize', systemPrompt: system });
      await this.#choose(model, effort);
      for (const { role, blocks } of history) {
        signal.throwIfAborted();
        if (role === 'user') await this.#tell(blocks);
        else this.#send({ type: 'assistant', message: { role, content: blocks } });
      }
      signal.throwIfAborted();
      const answer = new ClaudeAnswer(onPart);
      const ended = this.#expect((message) => {
        const value = answer.hear(message);
        return value && { value };
      });
      this.#send({ type: 'user', message: { role: 'user', content: question.map(asSpeech) } });
      return (await ended) as Outcome;
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  /** Model and effort, where they are not those that it was started with. A change of settings asks the upstream nothing. */
  async #choose(model: string, effort: string | undefined): Promise<void> {
    if (effort === 'none') await this.#control({ subtype: 'set_max_thinking_tokens', max_thinking_tokens: 0 });
    const settings: JsonObject = {
      ...(model !== this.#startModel && { model }),
      ...(effort !== undefined && effort !== 'none' && { effortLevel: effort === 'minimal' ? 'low' : effort }),
    };
    if (Object.keys(settings).length > 0) await this.#control({ subtype: 'apply_flag_settings', settings });
  }

  /** Puts in a turn of the user's that is not to be answered. */
  async #tell(content: TurnBlock[]): Promise<void> {
    const taken = this.#expect((message) => (message['type'] === 'result' ? { value: message } : undefined));
    this.#send({ type: 'user', message: { role: 'user', content: content.map(asSpeech) }, shouldQuery: false });
    await taken;
  }

  async #control(request: JsonObject & { subtype: string }): Promise<void> {
    this.#requests += 1;
    const id = `r${this.#requests}`;
    const answered = this.#expect(({ type, response }) =>
      type === 'control_response' && isJsonObject(response) && response['request_id'] === id
        ? { value: response }
        : undefined,
    );
    this.#send(controlRequest(id, request));
    const response = (await answered) as JsonObject;
    if (response['subtype'] !== 'success') {
      throw new RouterError('upstream_failed', `The CLI refused '${request.subtype}'.`, {
        cause: response['error'],
      });
    }
  }

  #expect(hear: Expectation['hear']): Promise<JsonObject | Outcome> {
    return new Promise((resolve, reject) => {
      this.#expected = { hear, resolve, reject };
      if (this.process.hasEnded) void this.process.failure().then(reject);
    });
  }

  #onMessage(message: JsonObject): void {
    if (message['type'] === 'control_request') {
      this.#refuse(message);
      return;
    }
    const expected = this.#expected;
    if (!expected) return;
    try {
      const heard = expected.hear(message);
      if (heard) this.#settle(({ resolve }) => resolve(heard.value));
    } catch (error) {
      this.#settle(({ reject }) => reject(error));
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

  #settle(how: (expected: Expectation) => void): void {
    const expected = this.#expected;
    this.#expected = undefined;
    if (expected) how(expected);
  }

  #send(message: JsonObject & { type: Json }): void {
    this.process.write(`${JSON.stringify(message)}\n`);
  }
}

/** A text that begins with a slash would be taken for a command to Claude Code; with a space before it is not. */
function asSpeech(block: TurnBlock): TurnBlock {
  return block.type === 'text' && block.text.startsWith('/') ? { ...block, text: ` ${block.text}` } : block;
}

function controlRequest(id: string, request: JsonObject): JsonObject & { type: string } {
  return { type: 'control_request', request_id: id, request };
}
