import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { transcript, type Conversation } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import type { AnswerPart, ConversationSession } from '../cli.ts';
import type { Outcome } from '../../answer/outcome.ts';
import { OpencodeAnswer } from './opencode-answer.ts';
import { bareAgent, warmUpModel } from './opencode-config.ts';
import type { OpencodeHttp } from './opencode-http.ts';

/** Conversations after which opencode has loaded all it needs and is about as fast as it gets. */
const warmUps = 12;

interface Model extends JsonObject {
  providerID: string;
  modelID: string;
}

/** Conversations with one opencode server, each in a session of its own. Events of other sessions are ignored. */
export class OpencodeSession implements ConversationSession {
  readonly process: CliProcess;
  readonly #http: OpencodeHttp;
  #answer: OpencodeAnswer | undefined;
  /** The session for the next conversation, created ahead of it. */
  #next: Promise<string> | undefined;

  constructor(process: CliProcess, http: OpencodeHttp) {
    this.process = process;
    this.#http = http;
  }

  /** Resolves when it can take a conversation at once: the first ones take several times as long as later ones. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#listen();
    for (let round = 0; round < warmUps; round += 1) {
      await this.#prompt({ model: warmUpModel, system: '', text: 'Hello', onPart: () => undefined, signal });
    }
  }

  converse(conversation: Conversation, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    const { model, system } = conversation;
    const [providerID = '', ...rest] = model.split('/');
    return this.#prompt({
      model: { providerID, modelID: rest.join('/') },
      system,
      text: transcript(conversation),
      onPart,
      signal,
    });
  }

  async #prompt({
    model,
    system,
    text,
    onPart,
    signal,
  }: {
    model: Model;
    system: string;
    text: string;
    onPart: (part: AnswerPart) => void;
    signal: AbortSignal;
  }): Promise<Outcome> {
    signal.throwIfAborted();
    const id = await (this.#next ?? this.#createSession());
    const answer = new OpencodeAnswer(id, onPart);
    this.#answer = answer;
    const abort = (): void => this.#do('POST', `/session/${id}/abort`);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#http.call('POST', `/session/${id}/prompt_async`, {
        agent: bareAgent,
        model,
        ...(system !== '' && { system }),
        tools: { '*': false },
        parts: [{ type: 'text', text }],
      });
      if (signal.aborted) abort();
      return await Promise.race([answer.ended, this.#processFailure()]);
    } catch (error) {
      // Otherwise opencode goes on with it.
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

  async #createSession(): Promise<string> {
    // Without a title opencode asks a model for one.
    const { id } = await this.#http.call('POST', '/session', { title: 'router' });
    if (typeof id !== 'string') throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return id;
  }

  /** Subscribes to its events for as long as it runs. */
  async #listen(): Promise<void> {
    const ended = new AbortController();
    void this.process.ended.then(() => ended.abort());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#http
      .events(resolve, (event) => this.#onEvent(event), ended.signal)
      .catch(reject)
      // Without its events the server is of no use.
      .finally(() => this.process.kill());
    await Promise.race([promise, this.#processFailure()]);
  }

  #onEvent({ type, properties }: JsonObject): void {
    const given = isJsonObject(properties) ? properties : {};
    // Refuses a permission, and everything else that needs a person.
    if (type === 'permission.asked') this.#do('POST', `/permission/${idIn(given)}/reply`, { reply: 'reject' });
    else if (type === 'question.asked') this.#do('POST', `/question/${idIn(given)}/reject`);
    else if (typeof type === 'string') this.#answer?.push(type, given);
  }

  /** Makes a call without waiting for its answer. A failed call ends the process, whose state is then unknown. */
  #do(method: 'POST' | 'DELETE', path: string, body?: JsonObject): void {
    this.#http.call(method, path, body).catch(() => this.process.kill());
  }

  async #processFailure(): Promise<never> {
    throw await this.process.failure();
  }
}

function idIn({ id }: JsonObject): string {
  return encodeURIComponent(typeof id === 'string' ? id : '');
}
