import { writeFile } from 'node:fs/promises';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { transcript, type Conversation } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { JsonRpcPeer } from '../../process/json-rpc-peer.ts';
import type { AnswerPart, ConversationSession, TextPart } from '../cli.ts';
import type { Outcome } from '../../answer/outcome.ts';
import { geminiFailure, readGeminiOutcome } from './gemini-outcome.ts';

export interface GeminiSessionOptions {
  /** The file that Gemini CLI reads the system prompt of each session from. */
  systemFile: string;
  cwd: string;
  /** The model that the process was started with. */
  startModel: string;
}

/** Used without a system prompt of the client's; Gemini CLI has instructions of its own in place of none. */
const noSystem = 'You are a helpful assistant.';

/** Conversations with one Gemini CLI process, each in a session of its own. Updates of other sessions are ignored. */
export class GeminiSession implements ConversationSession {
  readonly process: CliProcess;
  readonly #options: GeminiSessionOptions;
  readonly #peer: JsonRpcPeer;
  #current: { sessionId: string; onPart: (part: AnswerPart) => void } | undefined;

  constructor(process: CliProcess, options: GeminiSessionOptions) {
    this.process = process;
    this.#options = options;
    this.#peer = new JsonRpcPeer({
      process,
      onNotification: (method, params) => {
        if (method === 'session/update') this.#onUpdate(params);
      },
      onRequest: refuse,
    });
  }

  /** Starts the agent and a first session, which takes ten times as long as later ones. Resolves when both are done. */
  async ready(): Promise<void> {
    await this.#ask('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    await this.#startSession('');
  }

  async converse(
    conversation: Conversation,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const sessionId = await this.#startSession(conversation.system);
    const { model } = conversation;
    if (model !== this.#options.startModel) await this.#ask('session/set_model', { sessionId, modelId: model });
    const cancel = (): void => this.#peer.notify('session/cancel', { sessionId });
    signal.addEventListener('abort', cancel, { once: true });
    this.#current = { sessionId, onPart };
    try {
      signal.throwIfAborted();
      const text = asSpeech(transcript(conversation));
      return readGeminiOutcome(await this.#ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }));
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#current = undefined;
    }
  }

  async #startSession(system: string): Promise<string> {
    const { systemFile, cwd } = this.#options;
    await writeFile(systemFile, system === '' ? noSystem : system, { mode: 0o600 });
    const { sessionId } = await this.#ask('session/new', { cwd, mcpServers: [] });
    if (typeof sessionId !== 'string') throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return sessionId;
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#peer.request(method, params).catch((error: unknown) => {
      throw geminiFailure(method, error);
    });
  }

  #onUpdate({ sessionId, update }: JsonObject): void {
    if (!this.#current || sessionId !== this.#current.sessionId || !isJsonObject(update)) return;
    const { sessionUpdate, content } = update;
    if (sessionUpdate === 'agent_message_chunk') this.#show('text', content);
    else if (sessionUpdate === 'agent_thought_chunk') this.#show('thinking', content);
  }

  #show(kind: TextPart['kind'], content: Json | undefined): void {
    if (isJsonObject(content) && typeof content['text'] === 'string' && content['text'] !== '') {
      this.#current?.onPart({ kind, text: content['text'] });
    }
  }
}

/** Puts a word before a slash or a dollar sign, which would begin a command to the CLI. */
function asSpeech(text: string): string {
  return /^\s*[/$]/.test(text) ? `User: ${text.trimStart()}` : text;
}

/** Refuses a permission, and everything else that needs a person. */
function refuse(method: string): JsonObject | undefined {
  return method === 'session/request_permission' ? { outcome: { outcome: 'cancelled' } } : undefined;
}
