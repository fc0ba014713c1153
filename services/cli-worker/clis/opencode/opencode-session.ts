import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import type { AnswerPart, CliSession } from '../cli.ts';
import type { Outcome } from '../../answer/outcome.ts';
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
  #listed = '[]';
  #answer: OpencodeAnswer | undefined;
  /** The session for the next conversation, created in advance. */
  #next: Promise<string> | undefined;

  constructor(options: OpencodeSessionOptions) {
    this.process = options.process;
    this.#options = options;
  }

  /** Starts to follow the server's events, for as long as the server runs. Resolves when the server has begun to send them. */
  async followEvents(): Promise<void> {
    const ended = new AbortController();
    void this.process.ended.then(() => ended.abort());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#options.http
      .events(resolve, (event) => this.#onEvent(event), ended.signal)
      .catch(reject)
      // When its events end, the server is unusable.
      .finally(() => this.process.kill());
    await Promise.race([promise, this.#processFailure()]);
  }

  async converse(request: OpencodeRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#prompt(request, onPart, signal);
    } catch (error) {
      if (!(error instanceof OpencodeUnreachable)) throw error;
      // The server has ended, or is unusable.
      this.process.kill();
      throw await this.process.failure();
    }
  }

  async #prompt(request: OpencodeRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    const { http, plugin } = this.#options;
    const { items, tools, schema, effort, system, parameters, toolNames: names, parallelCalls: parallel } = request;
    const validate = schema && (await createAnswerValidator(schema));
    const model = modelOf(request.model);
    await this.#offer(tools);
    const id = await (this.#next ?? this.#createSession());
    const answer = new OpencodeAnswer(id, onPart, { names, parallel }, validate);
    this.#answer = answer;
    const abort = (): void => this.#do('POST', `/session/${id}/abort`);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const events = this.#histories.events(id, model, items);
      await http.call('POST', '/sync/replay', { directory: this.#options.folder, events });
      await http.call('POST', `/session/${id}/prompt_async`, {
        agent: bareAgent,
        model,
        system: plugin.system(system, parameters),
        // The last turn is already in the history, exactly as the client sent it.
        parts: [],
        ...(effort !== undefined && effort !== 'none' && { variant: effort }),
        ...(schema && { format: { type: 'json_schema', schema, retryCount: 0 } }),
        ...(tools.length === 0 && { tools: { [`${serverName}_*`]: false } }),
      });
      if (signal.aborted) abort();
      return await Promise.race([answer.ended, this.#processFailure()]);
    } catch (error) {
      // Otherwise opencode would go on with the conversation.
      abort();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#answer = undefined;
      this.#do('DELETE', `/session/${id}`);
      this.#next = this.#createSession();
      this.#next.catch(() => this.process.kill());
    }
  }

  /** Returns opencode's description of a model; undefined for a model that it does not have. */
  async describe(name: string): Promise<JsonObject | undefined> {
    const { providerID, modelID } = modelOf(name);
    const { providers } = await this.#options.http.call('GET', '/config/providers');
    const provider = (Array.isArray(providers) ? providers.filter(isJsonObject) : []).find(
      (each) => each['id'] === providerID,
    );
    const models = isJsonObject(provider?.['models']) ? provider['models'] : {};
    return isJsonObject(models[modelID]) ? models[modelID] : undefined;
  }

  /** Gives opencode the client's tools. It keeps them until it gets others. */
  async #offer(tools: readonly ListedTool[]): Promise<void> {
    const wanted = JSON.stringify(tools);
    if (tools.length === 0 || wanted === this.#listed) return;
    const { http, toolList } = this.#options;
    toolList.tools = tools;
    const headers = { authorization: toolList.authorization };
    const config = { type: 'remote', url: toolList.url, headers, oauth: false };
    const { [serverName]: state } = await http.call('POST', '/mcp', { name: serverName, config });
    if (!isJsonObject(state) || state['status'] !== 'connected') {
      throw new RouterError('upstream_failed', "The CLI did not take the client's tools.");
    }
    this.#listed = wanted;
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
      this.#do('POST', `/permission/${idIn(fields)}/reply`, { reply: 'reject' }, { mayBeGone: true });
    } else if (type === 'question.asked') this.#do('POST', `/question/${idIn(fields)}/reject`);
  }

  /** Makes a call without waiting for its answer. A failed call ends the process, whose state is then unknown. */
  #do(method: 'POST' | 'DELETE', path: string, body?: JsonObject, options?: { mayBeGone: boolean }): void {
    this.#options.http.call(method, path, body, options).catch(() => this.process.kill());
  }

  async #processFailure(): Promise<never> {
    throw await this.process.failure();
  }
}

/** @param name `provider/model` */
function modelOf(name: string): OpencodeModel {
  const [providerID = '', ...rest] = name.split('/');
  return { providerID, modelID: rest.join('/') };
}

function idIn({ id }: Record<string, Json | undefined>): string {
  return encodeURIComponent(typeof id === 'string' ? id : '');
}
