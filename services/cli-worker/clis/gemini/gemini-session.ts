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
import { SavedConversation, type NotedCall } from './saved-conversation.ts';

export interface GeminiSessionOptions {
  /** The file that Gemini CLI reads the system prompt of each session from. */
  systemFile: string;
  /** Its own folder, with a folder for each project in `tmp`. */
  home: string;
  cwd: string;
  /** The model that the process was started with. */
  startModel: string;
  tools: ToolListServer;
}

/** Used without a system prompt of the client's; Gemini CLI has instructions of its own in place of none. */
const noSystem = 'You are a helpful assistant.';

/** What a conversation waits for. */
interface Current {
  saved: SavedConversation;
  onPart: (part: AnswerPart) => void;
  /** Called when the whole history has been shown: what follows is the answer. */
  onHistory: () => void;
  answers: boolean;
}

/** Conversations with one Gemini CLI process, each in a session of its own that it loads. Updates of other sessions are ignored. */
export class GeminiSession implements CliSession<GeminiRequest, AnswerPart> {
  readonly process: CliProcess;
  readonly #options: GeminiSessionOptions;
  readonly #peer: JsonRpcPeer;
  /** The folder that Gemini CLI saves sessions in. */
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
    const saved = await SavedConversation.save(this.#saves, turns);
    const { sessionId } = saved;
    const cancel = (): void => this.#peer.notify('session/cancel', { sessionId });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await this.#load(saved, request, onPart, signal);
      if (model !== startModel) await this.#ask('session/set_model', { sessionId, modelId: model });
      signal.throwIfAborted();
      // The last turn is in the history, exactly as the client has it.
      const result = await this.#ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: '' }] });
      const noted = await saved.answer();
      const calls = callsOf(noted.calls, request);
      for (const call of calls) onPart(call);
      return readGeminiOutcome(result, { ...noted, calls: noted.calls.slice(0, calls.length) });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#current = undefined;
      await saved.remove();
    }
  }

  /** Has Gemini CLI load a conversation. Resolves when it has shown the history, which it also does after its answer. */
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

/** The updates with a piece of the answer. */
const kinds: Readonly<Record<string, TextPart['kind'] | undefined>> = {
  agent_message_chunk: 'text',
  agent_thought_chunk: 'thinking',
};

/** The calls of the client's tools, as the client knows them. */
function callsOf(noted: readonly NotedCall[], { tools, toolNames, parallelCalls }: GeminiRequest): AnswerPart[] {
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

/** Whether the client's tool has a parameter of that name. */
function isOwn(tool: ListedTool | undefined): boolean {
  const properties = tool?.inputSchema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, order);
}

function withoutOrder(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== order));
}

/**
 * The folder that Gemini CLI has just saved a session in: it has one for each project.
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

/** Refuses a permission, and everything else that needs a person. */
function refuse(method: string): JsonObject | undefined {
  return method === 'session/request_permission' ? { outcome: { outcome: 'cancelled' } } : undefined;
}

/** As the Agent Client Protocol describes a server (`session/load`, `mcpServers`). */
function serverAt({ url, authorization }: ToolListServer): JsonObject {
  return { type: 'http', name: serverName, url, headers: [{ name: 'authorization', value: authorization }] };
}
