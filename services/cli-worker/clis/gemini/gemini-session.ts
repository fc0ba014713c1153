import { randomUUID } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { JsonRpcPeer } from '../../process/json-rpc-peer.ts';
import type { AnswerPart, CliSession, TextPart } from '../cli.ts';
import type { ListedTool, ToolListServer } from '../tool-list-server.ts';
import type { Outcome } from '../../answer/outcome.ts';
import { geminiFailure, readGeminiOutcome } from './gemini-outcome.ts';
import { prefix, serverName, type GeminiRequest } from './gemini-request.ts';
import { SavedConversation, type RecordedCall } from './saved-conversation.ts';

export interface GeminiSessionOptions {
  /** The file from which Gemini CLI reads the system prompt of each session. */
  systemFile: string;
  /** Gemini CLI's own folder, with a folder for each project in `tmp`. */
  home: string;
  cwd: string;
  startModel: string;
  tools: ToolListServer;
}

/** System prompt for a client that has none. Gemini CLI would replace an empty one by instructions of its own. */
const noSystem = 'You are a helpful assistant.';

interface Current {
  saved: SavedConversation;
  onPart: (part: AnswerPart) => void;
  /** Called when Gemini CLI has shown the whole history. Everything that it shows afterwards is the answer. */
  onHistory: () => void;
  answers: boolean;
}

/**
 * Holds conversations with one Gemini CLI process, each in its own session that the process loads. Ignores updates about other sessions.
 */
export class GeminiSession implements CliSession<GeminiRequest, AnswerPart> {
  readonly process: CliProcess;
  readonly #options: GeminiSessionOptions;
  readonly #peer: JsonRpcPeer;
  /** The folder in which Gemini CLI saves sessions. */
  #saves = '';
  #current: Current | undefined;

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
    const { systemFile, home, cwd } = this.#options;
    await this.#ask('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    await writeFile(systemFile, noSystem, { mode: 0o600 });
    await this.#ask('session/new', { cwd, mcpServers: [] });
    this.#saves = await findSaves(join(home, 'tmp'));
  }

  async converse(request: GeminiRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    const { model, system, turns } = request;
    const { systemFile, startModel } = this.#options;
    await writeFile(systemFile, system === '' ? noSystem : system, { mode: 0o600 });
    const saved = await SavedConversation.create(this.#saves, turns);
    const { sessionId } = saved;
    const cancel = (): void => this.#peer.notify('session/cancel', { sessionId });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await this.#load(saved, request, onPart, signal);
      if (model !== startModel) await this.#ask('session/set_model', { sessionId, modelId: model });
      signal.throwIfAborted();
      // The last turn is already in the history, exactly as the client sent it.
      const result = await this.#ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: '' }] });
      const noted = await saved.answer();
      const calls = callsOf(noted.calls, request);
      for (const call of calls) onPart(call);
      return readGeminiOutcome(result, { ...noted, calls: noted.calls.slice(0, calls.length) });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#current = undefined;
      await saved.delete();
    }
  }

  /**
   * Makes Gemini CLI load a conversation. Resolves when Gemini CLI has shown the whole history, which may be after its answer to the
   * request.
   */
  async #load(
    saved: SavedConversation,
    { tools: listed }: GeminiRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { cwd, tools } = this.#options;
    const { promise: shown, resolve: onHistory, reject } = Promise.withResolvers<void>();
    this.#current = { saved, onPart, onHistory, answers: false };
    tools.tools = listed;
    const mcpServers = listed.length > 0 ? [serverAt(tools)] : [];
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([
        Promise.all([this.#ask('session/load', { sessionId: saved.sessionId, cwd, mcpServers }), shown]),
        this.#processFailure(),
      ]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #processFailure(): Promise<never> {
    throw await this.process.failure();
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#peer.request(method, params).catch((error: unknown) => {
      throw geminiFailure(method, error);
    });
  }

  #onUpdate({ sessionId, update }: JsonObject): void {
    const current = this.#current;
    if (!current || sessionId !== current.saved.sessionId || !isJsonObject(update)) return;
    const { sessionUpdate, content } = update;
    const text = isJsonObject(content) && typeof content['text'] === 'string' ? content['text'] : '';
    if (!current.answers) {
      current.answers = sessionUpdate === 'user_message_chunk' && current.saved.isEnd(text);
      if (current.answers) current.onHistory();
      return;
    }
    const kind = typeof sessionUpdate === 'string' ? kinds[sessionUpdate] : undefined;
    if (kind !== undefined && text !== '') current.onPart({ kind, text });
  }
}

/** Kinds of pieces, by the names of the updates with them. */
const kinds: Readonly<Record<string, TextPart['kind'] | undefined>> = {
  agent_message_chunk: 'text',
  agent_thought_chunk: 'thinking',
};

/** Returns the recorded calls of the client's tools, under the client's names. */
function callsOf(noted: readonly RecordedCall[], { tools, toolNames, parallelCalls }: GeminiRequest): AnswerPart[] {
  const calls = noted.flatMap(({ name: listed, args }) => {
    const name = toolNames.get(listed);
    if (name === undefined) return [];
    const tool = tools.find((each) => prefix + each.name === listed);
    return [{ name, arguments: JSON.stringify(isOwn(tool) ? args : withoutOrder(args)) }];
  });
  const kept = parallelCalls ? calls : calls.slice(0, 1);
  return kept.map((call, index) => ({ kind: 'call', index, id: `call_${randomUUID().replaceAll('-', '')}`, ...call }));
}

/** The property that Gemini CLI adds to the parameters of every tool, to run calls one after the other. */
const order = 'wait_for_previous';

/** Whether the client's tool itself has a parameter with the name `order`. */
function isOwn(tool: ListedTool | undefined): boolean {
  const properties = tool?.inputSchema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, order);
}

function withoutOrder(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== order));
}

/**
 * Returns the folder in which Gemini CLI has just saved a session. It has one folder for each project.
 * @throws RouterError `upstream_failed` if it saves none
 */
async function findSaves(projects: string): Promise<string> {
  const names = await readdir(projects).catch((): string[] => []);
  for (const name of names) {
    const folder = join(projects, name, 'chats');
    if (
      await stat(folder)
        .then((found) => found.isDirectory())
        .catch(() => false)
    )
      return folder;
  }
  throw new RouterError('upstream_failed', 'This version of Gemini CLI saves no conversations.');
}

/** Refuses permissions and every other request that needs a person. */
function refuse(method: string): JsonObject | undefined {
  return method === 'session/request_permission' ? { outcome: { outcome: 'cancelled' } } : undefined;
}

/** Describes the server as the Agent Client Protocol does (`session/load`, `mcpServers`). */
function serverAt({ url, authorization }: ToolListServer): JsonObject {
  return { type: 'http', name: serverName, url, headers: [{ name: 'authorization', value: authorization }] };
}
