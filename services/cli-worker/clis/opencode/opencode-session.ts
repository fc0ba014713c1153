import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart, Outcome } from '../../answer/answer-part.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import { transcript } from '../../answer/transcript.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import type { CliSession } from '../cli.ts';
import { OpencodeAnswer } from './opencode-answer.ts';
import { bareAgent, warmUpModel } from './opencode-config.ts';
import type { OpencodeHttp } from './opencode-http.ts';

/** Conversations after which it has loaded what it needs and is about as quick as it gets. */
const warmUps = 12;

/** What a prompt is sent to. */
interface Model extends JsonObject {
  providerID: string;
  modelID: string;
}

/**
 * Conversations with one opencode server, each in a session of its own. What comes of another session is not heard.
 */
export class OpencodeSession implements CliSession {
  readonly process: CliProcess;
  readonly #http: OpencodeHttp;
  #answer: OpencodeAnswer | undefined;
  /** The session for the next conversation, made while nobody waits for it. */
  #next: Promise<string> | undefined;

  constructor(process: CliProcess, http: OpencodeHttp) {
    this.process = process;
    this.#http = http;
  }

  /** Resolves when it can take a conversation at once: the first ones take it several times as long as those that follow. */
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
      // It would go on trying.
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
    // A title keeps it from asking a model for one.
    const { id } = await this.#http.call('POST', '/session', { title: 'router' });
    if (typeof id !== 'string') throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return id;
  }

  /** Hears its events from now on, for as long as it runs. */
  async #listen(): Promise<void> {
    const stop = new AbortController();
    void this.process.ended.then(() => stop.abort());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#http
      .events(resolve, (event) => this.#onEvent(event), stop.signal)
      .catch(reject)
      // Without its events it is of no use.
      .finally(() => this.process.kill());
    await Promise.race([promise, this.#processFailure()]);
  }

  #onEvent({ type, properties }: JsonObject): void {
    const given = isJsonObject(properties) ? properties : {};
    // It asks for a permission, or for anything else of a person's: nobody is there.
    if (type === 'permission.asked') this.#do('POST', `/permission/${idIn(given)}/reply`, { reply: 'reject' });
    else if (type === 'question.asked') this.#do('POST', `/question/${idIn(given)}/reject`);
    else if (typeof type === 'string') this.#answer?.hear(type, given);
  }

  /** Tells it something for which no answer is waited. A call that fails ends the process, because it may hang on. */
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
