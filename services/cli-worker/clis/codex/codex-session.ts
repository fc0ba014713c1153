import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';
import type { Turn } from '#shared/translate/conversation/arrange-turns.ts';
import { textOf, type Conversation, type TurnBlock } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { JsonRpcError, JsonRpcPeer } from '../../process/json-rpc-peer.ts';
import type { AnswerPart, ConversationSession } from '../cli.ts';
import type { Outcome } from '../../answer/outcome.ts';
import { CodexAnswer } from './codex-answer.ts';

/** Conversations with one Codex app server, each in a thread of its own. Notifications of other threads are ignored. */
export class CodexSession implements ConversationSession {
  readonly process: CliProcess;
  readonly #peer: JsonRpcPeer;
  readonly #threadOptions: JsonObject;
  #answer: CodexAnswer | undefined;

  /** @param threadOptions further parameters of each `thread/start` */
  constructor(process: CliProcess, threadOptions: JsonObject) {
    this.process = process;
    this.#threadOptions = threadOptions;
    this.#peer = new JsonRpcPeer({
      process,
      onNotification: (method, params) => this.#answer?.push(method, params),
      onRequest: refuse,
    });
  }

  /** Starts the app server and a first thread, which takes four times as long as later ones. Resolves when both are done. */
  async ready(model: string): Promise<void> {
    const clientInfo = { name: 'model-router', title: 'Model Router', version };
    await this.#peer.request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#peer.notify('initialized', {});
    this.#leave(await this.#startThread(model, ''));
  }

  async converse(
    { model, system, history, question, effort }: Conversation,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const threadId = await this.#startThread(model, system);
    const answer = new CodexAnswer(threadId, onPart);
    this.#answer = answer;
    const interrupt = (): void => {
      const { turnId } = answer;
      if (turnId !== undefined) this.#peer.request('turn/interrupt', { threadId, turnId }).catch(() => undefined);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      if (history.length > 0) {
        await this.#ask('thread/inject_items', { threadId, items: history.map(responsesItem) });
      }
      signal.throwIfAborted();
      const started = await this.#ask('turn/start', {
        threadId,
        input: [{ type: 'text', text: textOf(question), text_elements: [] }],
        ...(effort !== undefined && { effort: effort === 'max' ? 'xhigh' : effort }),
        summary: effort === 'none' ? 'none' : 'auto',
      });
      answer.turnId ??= idOf(started['turn']);
      if (signal.aborted) interrupt();
      return await Promise.race([answer.ended, this.#processFailure()]);
    } finally {
      signal.removeEventListener('abort', interrupt);
      this.#answer = undefined;
      this.#leave(threadId);
    }
  }

  /** Makes the server drop a thread. Nothing waits for it: the thread is not saved and its notifications are ignored. */
  #leave(threadId: string): void {
    this.#peer.request('thread/unsubscribe', { threadId }).catch(() => undefined);
  }

  async #startThread(model: string, system: string): Promise<string> {
    const { thread } = await this.#ask('thread/start', {
      ...this.#threadOptions,
      model,
      // Without the field Codex uses its own instructions.
      baseInstructions: system,
      developerInstructions: '',
      ephemeral: true,
      approvalPolicy: 'never',
      sandbox: 'read-only',
      environments: [],
    });
    const threadId = idOf(thread);
    if (threadId === undefined) throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return threadId;
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    try {
      return await this.#peer.request(method, params);
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      throw new RouterError('upstream_failed', `The CLI refused '${method}'.`, { cause: error });
    }
  }

  async #processFailure(): Promise<never> {
    throw await this.process.failure();
  }
}

/** Refuses a permission, and everything else that needs a person. */
function refuse(method: string): JsonObject | undefined {
  if (method === 'applyPatchApproval' || method === 'execCommandApproval') return { decision: 'denied' };
  return method.endsWith('/requestApproval') && !method.includes('permissions') ? { decision: 'decline' } : undefined;
}

/** A turn as an item of the Responses API. */
function responsesItem({ role, blocks }: Turn<TurnBlock>): JsonObject {
  const type = role === 'user' ? 'input_text' : 'output_text';
  return { type: 'message', role, content: [{ type, text: textOf(blocks) }] };
}

function idOf(value: Json | undefined): string | undefined {
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
}
