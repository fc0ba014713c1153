import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseToolInput } from '#shared/translate/vocabulary/tool-call.ts';
import { bareAgent, type OpencodeModel } from './opencode-config.ts';

/** Beginning of the ids of messages in a history. Ids that opencode creates begin with the time and sort after these ids. */
const historyIdStart = '0';

/** Returns whether a message belongs to a history that came from the worker. */
export function isHistoryMessage(messageId: unknown): boolean {
  return typeof messageId === 'string' && messageId.startsWith(`msg_${historyIdStart}`);
}

interface Message {
  role: 'user' | 'assistant';
  parts: JsonObject[];
}

/** Creates the events that put histories into the sessions of one opencode server (`/sync/replay`). */
export class OpencodeHistories {
  /** Number of the last id. Ids are unique in the whole server. */
  #lastId = 0;

  /**
   * Returns the events for a conversation.
   * @param items items of the Responses format, each call with its result
   */
  createEvents(sessionId: string, model: OpencodeModel, items: readonly JsonObject[]): JsonObject[] {
    const now = Date.now();
    let sequence = 0;
    let parentId = this.#createId('msg');
    const createEvent = (type: string, data: JsonObject): JsonObject => {
      // The event that created the session has the first number.
      sequence += 1;
      return {
        id: this.#createId('evt'),
        aggregateID: sessionId,
        seq: sequence,
        type,
        data: { sessionID: sessionId, ...data },
      };
    };
    return toMessages(items, now).flatMap(({ role, parts }) => {
      const id = this.#createId('msg');
      const info =
        role === 'user' ? createUserInfo(model) : { ...createAssistantInfo(model), parentID: parentId, finish: 'stop' };
      if (role === 'user') parentId = id;
      const time = role === 'user' ? { created: now } : { created: now, completed: now };
      return [
        createEvent('message.updated.1', { info: { id, sessionID: sessionId, role, time, agent: bareAgent, ...info } }),
        ...parts.map((part) =>
          createEvent('message.part.updated.1', {
            part: { id: this.#createId('prt'), sessionID: sessionId, messageID: id, ...part },
            time: now,
          }),
        ),
      ];
    });
  }

  #createId(kind: 'msg' | 'prt' | 'evt'): string {
    this.#lastId += 1;
    return `${kind}_${historyIdStart}${String(this.#lastId).padStart(25, '0')}`;
  }
}

function createUserInfo(model: OpencodeModel): JsonObject {
  return { model };
}

function createAssistantInfo(model: OpencodeModel): JsonObject {
  const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
  return { ...model, mode: bareAgent, path: { cwd: '/', root: '/' }, cost: 0, tokens };
}

/** Leaves a user's messages unchanged. Joins what the model wrote, up to the results of its calls, into one message. */
function toMessages(items: readonly JsonObject[], now: number): Message[] {
  const results = new Map(
    items.flatMap((item) =>
      item['type'] === 'function_call_output' ? [[item['call_id'], toText(item['output'])]] : [],
    ),
  );
  const messages: Message[] = [];
  let isAnswerOpen = false;
  for (const item of items) {
    if (item['type'] === 'function_call_output') {
      isAnswerOpen = false;
      continue;
    }
    const role = item['role'] === 'user' ? 'user' : 'assistant';
    const parts = item['type'] === 'function_call' ? [toCallPart(item, results, now)] : toParts(item['content']);
    const last = messages.at(-1);
    if (role === 'assistant' && isAnswerOpen && last) last.parts.push(...parts);
    else messages.push({ role, parts });
    isAnswerOpen = role === 'assistant';
  }
  return messages;
}

function toCallPart(call: JsonObject, results: ReadonlyMap<unknown, string>, now: number): JsonObject {
  const { call_id: callID = null, name: tool = null, arguments: json } = call;
  const output = results.get(callID) ?? '';
  const state = {
    status: 'completed',
    input: parseToolInput(typeof json === 'string' ? json : ''),
    output,
    title: '',
    metadata: {},
    time: { start: now, end: now },
  };
  return { type: 'tool', callID, tool, state };
}

function toText(output: unknown): string {
  if (!Array.isArray(output)) return String(output);
  return output
    .flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n');
}

function toParts(content: unknown): JsonObject[] {
  return (Array.isArray(content) ? content : []).filter(isJsonObject).map((part) => {
    const { text, image_url: image, file_data: file } = part;
    const url = part['type'] === 'input_image' ? image : part['type'] === 'input_file' ? file : undefined;
    if (typeof url !== 'string') return { type: 'text', text: text ?? '' };
    return { type: 'file', mime: /^data:([^;,]*)/.exec(url)?.[1] ?? '', url };
  });
}
