import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { MessagesBlock } from '#shared/formats/messages/request.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { createJsonLineReader } from '../../process/line-reader.ts';
import type { CliSession } from '../cli.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import { ClaudeAnswer } from './claude-answer.ts';
import type { ClaudeRequest } from './claude-request.ts';
import { ClientTools } from './client-tools.ts';

/** An address to which nothing can connect. */
const unreachableUrl = 'http://127.0.0.1:0';

interface Expectation {
  /** Returns whether the message ends the wait. If the function throws, the wait fails with that error. */
  endsWait: (message: JsonObject) => boolean;
  fail: (error: unknown) => void;
}

/**
 * A conversation with a Claude Code process, over JSON lines.
 *
 * States: starting → ready (answers control requests) → prepared (has settings, tools and history) → asked → over. Claude Code adds an
 * assistant turn at once but queues a user turn. Therefore the session waits after each user turn for the message that confirms the turn.
 */
export class ClaudeSession implements CliSession<ClaudeRequest, JsonObject> {
  readonly process: CliProcess;
  readonly #startModel: string;
  readonly #expectations = new Set<Expectation>();
  #tools = new ClientTools([]);
  #requestCount = 0;

  constructor(process: CliProcess, startModel: string) {
    this.process = process;
    this.#startModel = startModel;
    process.onOutput = createJsonLineReader((message) => this.#onMessage(message));
    void process.waitForFailure().then((error) => {
      for (const { fail } of this.#expectations) fail(error);
    });
  }

  /** Resolves when the process answers control requests. */
  async waitUntilReady(): Promise<void> {
    await this.#sendControlRequest({ subtype: 'apply_flag_settings', settings: {} });
  }

  async converse(request: ClaudeRequest, onEvent: (event: JsonObject) => void, signal: AbortSignal): Promise<Outcome> {
    const interrupt = (): void => this.#send(createControlRequest('interrupt', { subtype: 'interrupt' }));
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      signal.throwIfAborted();
      this.#tools = new ClientTools(request.tools);
      // Claude Code handles messages in order, so all of them are sent before the first is answered.
      const settingsAccepted = Promise.all(
        createSettingRequests(request, this.#startModel).map((setting) => this.#sendControlRequest(setting)),
      );
      const [outcome] = await Promise.all([this.#ask(request, onEvent, signal), settingsAccepted]);
      return outcome;
    } finally {
      signal.removeEventListener('abort', interrupt);
      // The process is killed, because it would wait for the results of tools that the client runs.
      this.process.kill();
    }
  }

  async #ask(
    { model, history, question, tools }: ClaudeRequest,
    onEvent: (event: JsonObject) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const toolsListed = tools.length === 0 ? undefined : this.#tools.whenListed;
    if (toolsListed)
      await Promise.race([toolsListed, this.process.waitForFailure().then((error) => Promise.reject(error))]);
    for (const { role, blocks } of history) {
      signal.throwIfAborted();
      if (role === 'user') await this.#addUserTurn(blocks);
      // Claude Code drops the thinking of a turn that does not name its model.
      else this.#send({ type: 'assistant', message: { role, model, content: blocks } });
    }
    signal.throwIfAborted();
    const answer = new ClaudeAnswer((event) => {
      if (event['type'] === 'message_start') this.#disconnectUpstream();
      onEvent(event);
    });
    const outcome = this.#expect((message) => answer.push(message));
    this.#send({ type: 'user', message: { role: 'user', content: question.map(escapeCommand) } });
    return outcome;
  }

  /**
   * Disconnects the process from its upstream for all requests after the one that is being answered. After some answers Claude Code sends
   * another request within milliseconds, faster than the process can be ended.
   */
  #disconnectUpstream(): void {
    const settings = { env: { ANTHROPIC_BASE_URL: unreachableUrl } };
    this.#send(createControlRequest('cut-off', { subtype: 'apply_flag_settings', settings }));
  }

  /** Adds a user turn to the history. Claude Code does not answer that turn. */
  async #addUserTurn(content: MessagesBlock[]): Promise<void> {
    const turnEnded = this.#expect((message) => (message['type'] === 'result' ? message : undefined));
    this.#send({ type: 'user', message: { role: 'user', content: content.map(escapeCommand) }, shouldQuery: false });
    await turnEnded;
  }

  async #sendControlRequest(request: JsonObject & { subtype: string }): Promise<void> {
    this.#requestCount += 1;
    const id = `r${this.#requestCount}`;
    const responseMessage = this.#expect(({ type, response }) =>
      type === 'control_response' && isJsonObject(response) && response['request_id'] === id ? response : undefined,
    );
    this.#send(createControlRequest(id, request));
    const { subtype, error } = await responseMessage;
    if (subtype === 'success') return;
    throw new RouterError('upstream_failed', `The CLI refused '${request.subtype}'.`, { cause: error });
  }

  /**
   * Waits for a message.
   * @param read called with each message until it returns a value
   * @throws the errors of `read`
   * @throws RouterError if the process ends
   */
  async #expect<T>(read: (message: JsonObject) => T | undefined): Promise<T> {
    if (this.process.hasEnded) throw await this.process.waitForFailure();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const expectation: Expectation = {
      endsWait: (message) => {
        const value = read(message);
        if (value !== undefined) resolve(value);
        return value !== undefined;
      },
      fail: reject,
    };
    this.#expectations.add(expectation);
    return promise.finally(() => this.#expectations.delete(expectation));
  }

  #onMessage(message: JsonObject): void {
    if (message['type'] === 'control_request') {
      this.#onRequest(message);
      return;
    }
    for (const expectation of this.#expectations) {
      try {
        if (expectation.endsWait(message)) return;
      } catch (error) {
        expectation.fail(error);
        return;
      }
    }
  }

  /** Refuses every request that needs a person. Does not answer calls of tools, because the client runs the tools. */
  #onRequest({ request_id: id, request }: JsonObject): void {
    const subtype = isJsonObject(request) ? request['subtype'] : undefined;
    if (subtype === 'can_use_tool') return;
    const isToolListMessage = isJsonObject(request) && subtype === 'mcp_message' && isJsonObject(request['message']);
    if (!isToolListMessage) {
      this.#respond({ subtype: 'error', request_id: id, error: 'Not supported.' });
      return;
    }
    const answer = this.#tools.answer(request['message'] as JsonObject);
    if (answer) this.#respond({ subtype: 'success', request_id: id, response: { mcp_response: answer } });
  }

  #respond(response: JsonObject): void {
    this.#send({ type: 'control_response', response });
  }

  #send(message: JsonObject & { type: Json }): void {
    this.process.write(`${JSON.stringify(message)}\n`);
  }
}

/** Returns the control requests that prepare a conversation. None of them calls the upstream. */
function createSettingRequests(
  { model, system, tools, isThinking, fields }: ClaudeRequest,
  startModel: string,
): (JsonObject & { subtype: string })[] {
  return [
    {
      subtype: 'initialize',
      // If this field is empty, Claude Code uses no system prompt. Without the field, Claude Code would use its own.
      systemPrompt: system,
      ...(tools.length > 0 && { sdkMcpServers: [ClientTools.serverName] }),
    },
    ...(isThinking ? [] : [{ subtype: 'set_max_thinking_tokens', max_thinking_tokens: 0 }]),
    {
      subtype: 'apply_flag_settings',
      settings: {
        ...(model !== startModel && { model }),
        // With a login, Claude Code would otherwise tell the model how to sign commits.
        attribution: { commit: '', pr: '' },
        // These fields of the upstream's request override the fields that Claude Code sets itself.
        env: { CLAUDE_CODE_EXTRA_BODY: JSON.stringify(fields) },
      },
    },
  ];
}

/** Puts a space before a leading slash, which would begin a command to Claude Code. */
function escapeCommand(block: MessagesBlock): MessagesBlock {
  return block.type === 'text' && block.text.startsWith('/') ? { ...block, text: ` ${block.text}` } : block;
}

function createControlRequest(id: string, request: JsonObject): JsonObject & { type: string } {
  return { type: 'control_request', request_id: id, request };
}
