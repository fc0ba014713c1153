import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';
import { chooseAcceptedEffort } from '#shared/upstream/minimal-thinking.ts';
import type { ModelRefusals } from '#shared/upstream/model-refusals.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { JsonRpcError, JsonRpcPeer, unanswered } from '../../process/json-rpc-peer.ts';
import type { AnswerPart, CliSession } from '../cli.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import { CodexAnswer } from './codex-answer.ts';
import type { CodexRequest } from './codex-request.ts';
import type { CodexTool } from './codex-tool.ts';

interface ThreadSettings {
  model: string;
  instructions: string;
  tools: readonly CodexTool[];
}

/** Holds conversations with one Codex app server, each in its own thread. Ignores notifications about other threads. */
export class CodexSession implements CliSession<CodexRequest, AnswerPart> {
  readonly process: CliProcess;
  readonly #peer: JsonRpcPeer;
  readonly #threadOptions: JsonObject;
  #answer: CodexAnswer | undefined;

  readonly #refusals: ModelRefusals;

  /**
   * @param threadOptions further parameters of each `thread/start`
   * @param refusals efforts that the upstream has refused; all processes share them
   */
  constructor(process: CliProcess, threadOptions: JsonObject, refusals: ModelRefusals) {
    this.process = process;
    this.#refusals = refusals;
    this.#threadOptions = threadOptions;
    this.#peer = new JsonRpcPeer(process, (method, params) => this.#answer?.push(method, params), answerRequest);
  }

  /** Initializes the app server and starts a first thread, which takes four times as long as later threads. */
  async initialize(model: string): Promise<void> {
    const clientInfo = { name: 'model-router', title: 'Model Router', version };
    await this.#peer.request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#peer.notify('initialized', {});
    this.#dropThread(await this.#startThread({ model, instructions: '', tools: [] }));
  }

  /**
   * Holds a conversation. If a model must think, and so refuses the effort `none` or `minimal`, requests the lowest effort that the model
   * accepts.
   */
  async converse(request: CodexRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    const { model, effort } = request;
    if (effort !== 'none' && effort !== 'minimal') return this.#holdConversation(request, onPart, signal);
    const knownEffort = this.#refusals.findReplacement(model, effort);
    if (knownEffort !== undefined) return this.#holdConversation({ ...request, effort: knownEffort }, onPart, signal);
    try {
      return await this.#holdConversation(request, onPart, signal);
    } catch (error) {
      const acceptedEffort = signal.aborted ? undefined : chooseAcceptedEffort(error, effort);
      if (acceptedEffort === undefined) throw error;
      const outcome = await this.#holdConversation({ ...request, effort: acceptedEffort }, onPart, signal);
      this.#refusals.record(model, effort, acceptedEffort);
      return outcome;
    }
  }

  async #holdConversation(
    request: CodexRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const { items, effort, schema, toolNames: names, parallelCalls: parallel } = request;
    const threadId = await this.#startThread(request);
    const interrupt = (): void => {
      const { turnId } = answer;
      if (turnId !== undefined) this.#peer.request('turn/interrupt', { threadId, turnId }).catch(() => undefined);
    };
    const answer = new CodexAnswer(threadId, onPart, { names, parallel }, interrupt);
    this.#answer = answer;
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      await this.#request('thread/inject_items', { threadId, items });
      signal.throwIfAborted();
      const startedTurn = await this.#request('turn/start', {
        threadId,
        // The last turn is already in the history, exactly as the client sent it.
        input: [],
        ...(effort !== undefined && { effort: effort === 'max' ? 'xhigh' : effort }),
        summary: effort === 'none' ? 'none' : 'auto',
        ...(schema !== undefined && { outputSchema: schema }),
      });
      answer.turnId ??= readId(startedTurn['turn']);
      if (signal.aborted) interrupt();
      return await Promise.race([answer.finalOutcome, this.#rejectWhenProcessEnds()]);
    } finally {
      signal.removeEventListener('abort', interrupt);
      this.#answer = undefined;
      this.#dropThread(threadId);
    }
  }

  /**
   * Makes the server drop a thread. Does not wait for the server's answer, because the thread is not saved and its notifications are
   * ignored.
   */
  #dropThread(threadId: string): void {
    this.#peer.request('thread/unsubscribe', { threadId }).catch(() => undefined);
  }

  async #startThread({ model, instructions, tools }: ThreadSettings): Promise<string> {
    const { thread } = await this.#request('thread/start', {
      ...this.#threadOptions,
      model,
      // If this field were left out, Codex would use its own instructions.
      baseInstructions: instructions,
      developerInstructions: '',
      ephemeral: true,
      approvalPolicy: 'never',
      sandbox: 'read-only',
      environments: [],
      // Makes Codex report calls with their arguments as the model wrote them, and the usage of each response.
      experimentalRawEvents: true,
      ...(tools.length > 0 && { dynamicTools: tools.map((tool) => ({ type: 'function', ...tool })) }),
    }).catch((error: unknown) => {
      throw tools.length > 0 ? toToolsError(error) : error;
    });
    const threadId = readId(thread);
    if (threadId === undefined) throw new RouterError('upstream_failed', 'The CLI started no conversation.');
    return threadId;
  }

  async #request(method: string, params: JsonObject): Promise<JsonObject> {
    try {
      return await this.#peer.request(method, params);
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      throw new RouterError('upstream_failed', `The CLI refused '${method}'.`, { cause: error });
    }
  }

  async #rejectWhenProcessEnds(): Promise<never> {
    throw await this.process.waitForFailure();
  }
}

/** Returns the client's error for a thread that Codex refused because of its tools. */
function toToolsError(error: unknown): unknown {
  if (!(error instanceof RouterError && error.cause instanceof JsonRpcError)) return error;
  const message = `Unsupported value for 'tools': the agent that serves this request says: ${error.cause.message}`;
  return new RouterError('unsupported_parameter', message, { param: 'tools', cause: error });
}

/** Refuses permissions and every other request that needs a person. Leaves calls of tools unanswered, because the client runs the tools. */
function answerRequest(method: string): JsonObject | typeof unanswered | undefined {
  if (method === 'item/tool/call') return unanswered;
  if (method === 'applyPatchApproval' || method === 'execCommandApproval') return { decision: 'denied' };
  return method.endsWith('/requestApproval') && !method.includes('permissions') ? { decision: 'decline' } : undefined;
}

function readId(value: Json | undefined): string | undefined {
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
}
