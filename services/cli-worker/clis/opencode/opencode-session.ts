import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import type { AnswerPart, CliSession } from '../cli.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import type { ListedTool, ToolListServer } from '../tool-list-server.ts';
import { createAnswerValidator } from './answer-validator.ts';
import type { ModelOnlyPlugin } from './model-only-plugin.ts';
import { OpencodeAnswer } from './opencode-answer.ts';
import { bareAgent, type OpencodeModel } from './opencode-config.ts';
import { OpencodeHistories } from './opencode-history.ts';
import { OpencodeUnreachable, type OpencodeHttp } from './opencode-http.ts';
import { serverName, type OpencodeRequest } from './opencode-request.ts';

export interface OpencodeSessionOptions {
  process: CliProcess;
  http: OpencodeHttp;
  plugin: ModelOnlyPlugin;
  toolList: ToolListServer;
  folder: string;
}

/** Holds conversations with one opencode server, each in its own session. Ignores events about other sessions. */
export class OpencodeSession implements CliSession<OpencodeRequest, AnswerPart> {
  readonly process: CliProcess;
  readonly #options: OpencodeSessionOptions;
  readonly #histories = new OpencodeHistories();
  /** The client's tools that opencode has now, as JSON. */
  #currentTools = '[]';
  #answer: OpencodeAnswer | undefined;
  /** The session for the next conversation, created in advance. */
  #nextSession: Promise<string> | undefined;

  constructor(options: OpencodeSessionOptions) {
    this.process = options.process;
    this.#options = options;
  }

  /** Starts to follow the server's events, for as long as the server runs. Resolves when the server has begun to send them. */
  async followEvents(): Promise<void> {
    const ended = new AbortController();
    void this.process.whenEnded.then(() => ended.abort());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#options.http
      .readEvents(resolve, (event) => this.#onEvent(event), ended.signal)
      .catch(reject)
      // When its events end, the server is unusable.
      .finally(() => this.process.kill());
    await Promise.race([promise, this.#rejectWhenProcessEnds()]);
  }

  async converse(request: OpencodeRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#sendPrompt(request, onPart, signal);
    } catch (error) {
      if (!(error instanceof OpencodeUnreachable)) throw error;
      // The server has ended, or is unusable.
      this.process.kill();
      throw await this.process.waitForFailure();
    }
  }

  async #sendPrompt(
    request: OpencodeRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const { http, plugin } = this.#options;
    const { items, tools, schema, effort, system, parameters, toolNames: names, parallelCalls: parallel } = request;
    const validate = schema && (await createAnswerValidator(schema));
    const model = parseModelName(request.model);
    await this.#setTools(tools);
    const id = await (this.#nextSession ?? this.#createSession());
    const answer = new OpencodeAnswer(id, onPart, { names, parallel }, validate);
    this.#answer = answer;
    let aborted: Promise<unknown> | undefined;
    const abort = (): void => {
      if (aborted) return;
      aborted = http.call('POST', `/session/${id}/abort`);
      this.#inBackground(aborted);
    };
    try {
      const events = this.#histories.createEvents(id, model, items);
      await http.call('POST', '/sync/replay', { directory: this.#options.folder, events });
      signal.throwIfAborted();
      await http.call('POST', `/session/${id}/prompt_async`, {
        agent: bareAgent,
        model,
        system: plugin.writeSystemField(system, parameters),
        // The last turn is already in the history, exactly as the client sent it.
        parts: [],
        ...(effort !== undefined && effort !== 'none' && { variant: effort }),
        ...(schema && { format: { type: 'json_schema', schema, retryCount: 0 } }),
        ...(tools.length === 0 && { tools: { [`${serverName}_*`]: false } }),
      });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      return await Promise.race([answer.finalOutcome, this.#rejectWhenProcessEnds()]);
    } catch (error) {
      // Otherwise opencode would go on with the conversation.
      abort();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#answer = undefined;
      this.#inBackground(Promise.resolve(aborted).then(() => http.call('DELETE', `/session/${id}`)));
      this.#nextSession = this.#createSession();
      this.#inBackground(this.#nextSession);
    }
  }

  /** Returns opencode's description of a model; undefined if opencode does not have the model. */
  async describeModel(name: string): Promise<JsonObject | undefined> {
    const { providerID, modelID } = parseModelName(name);
    const { providers } = await this.#options.http.call('GET', '/config/providers');
    const provider = (Array.isArray(providers) ? providers.filter(isJsonObject) : []).find(
      (each) => each['id'] === providerID,
    );
    const models = isJsonObject(provider?.['models']) ? provider['models'] : {};
    return isJsonObject(models[modelID]) ? models[modelID] : undefined;
  }

  /** Gives opencode the client's tools. opencode keeps them until it gets other tools. */
  async #setTools(tools: readonly ListedTool[]): Promise<void> {
    const toolsText = JSON.stringify(tools);
    if (tools.length === 0 || toolsText === this.#currentTools) return;
    const { http, toolList } = this.#options;
    toolList.tools = tools;
    const headers = { authorization: toolList.authorization };
    const config = { type: 'remote', url: toolList.url, headers, oauth: false };
    const { [serverName]: state } = await http.call('POST', '/mcp', { name: serverName, config });
    if (!isJsonObject(state) || state['status'] !== 'connected') {
      throw new RouterError('upstream_failed', "The CLI did not take the client's tools.");
    }
    this.#currentTools = toolsText;
  }

  async #createSession(): Promise<string> {
    // If a session has no title, opencode asks a model for one.
    const { id } = await this.#options.http.call('POST', '/session', { title: 'router' });
    if (typeof id !== 'string') throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return id;
  }

  #onEvent({ type, properties }: JsonObject): void {
    const fields = isJsonObject(properties) ? properties : {};
    if (typeof type === 'string') this.#answer?.push(type, fields);
    // Permissions and all other requests that need a person are refused. One refusal answers all permissions that wait in the session.
    if (type === 'permission.asked') {
      const path = `/permission/${readId(fields)}/reply`;
      this.#inBackground(this.#options.http.call('POST', path, { reply: 'reject' }, { mayBeGone: true }));
    } else if (type === 'question.asked')
      this.#inBackground(this.#options.http.call('POST', `/question/${readId(fields)}/reject`));
  }

  /** Does not wait for calls. A failed call ends the process, because the state of the process is then unknown. */
  #inBackground(calls: Promise<unknown>): void {
    calls.catch(() => this.process.kill());
  }

  async #rejectWhenProcessEnds(): Promise<never> {
    throw await this.process.waitForFailure();
  }
}

/** @param name `provider/model` */
function parseModelName(name: string): OpencodeModel {
  const [providerID = '', ...rest] = name.split('/');
  return { providerID, modelID: rest.join('/') };
}

function readId({ id }: Record<string, Json | undefined>): string {
  return encodeURIComponent(typeof id === 'string' ? id : '');
}
