import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { bareAgent, type OpencodeModel } from './opencode-config.ts';

/** Beginning of the ids of messages in a history. Ids that opencode creates begin with the time and sort after them. */
const historyIdStart = '0';

/** Whether a message belongs to a history that came from the worker. */
export function isOfHistory(messageId: unknown): boolean {
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
  events(sessionId: string, model: OpencodeModel, items: readonly JsonObject[]): JsonObject[] {
    const now = Date.now();
    let sequence = 0;
    let parentId = this.#id('msg');
    const event = (type: string, data: JsonObject): JsonObject => {
      // The event that created the session has the first number.
      sequence += 1;
      return {
        id: this.#id('evt'),
        aggregateID: sessionId,
        seq: sequence,
        type,
        data: { sessionID: sessionId, ...data },
      };
    };
    return messagesOf(items, now).flatMap(({ role, parts }) => {
      const id = this.#id('msg');
      const info = role === 'user' ? userInfo(model) : { ...assistantInfo(model), parentID: parentId, finish: 'stop' };
      if (role === 'user') parentId = id;
      const time = role === 'user' ? { created: now } : { created: now, completed: now };
      return [
        event('message.updated.1', { info: { id, sessionID: sessionId, role, time, agent: bareAgent, ...info } }),
        ...parts.map((part) =>
          event('message.part.updated.1', {
            part: { id: this.#id('prt'), sessionID: sessionId, messageID: id, ...part },
            time: now,
          }),
        ),
      ];
    });
  }

  #id(kind: 'msg' | 'prt' | 'evt'): string {
    this.#lastId += 1;
    return `${kind}_${historyIdStart}${String(this.#lastId).padStart(25, '0')}`;
  }
}

function userInfo(model: OpencodeModel): JsonObject {
  return { model };
}

function assistantInfo(model: OpencodeModel): JsonObject {
  const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
  return { ...model, mode: bareAgent, path: { cwd: '/', root: '/' }, cost: 0, tokens };
}

/** Leaves a user's messages unchanged. Joins what the model wrote, up to the results of its calls, into one message. */
function messagesOf(items: readonly JsonObject[], now: number): Message[] {
  const results = new Map(
    items.flatMap((item) =>
      item['type'] === 'function_call_output' ? [[item['call_id'], textOf(item['output'])]] : [],
    ),
  );
  const messages: Message[] = [];
  let isOpen = false;
  for (const item of items) {
    if (item['type'] === 'function_call_output') {
      isOpen = false;
      continue;
    }
    const role = item['role'] === 'user' ? 'user' : 'assistant';
    const parts = item['type'] === 'function_call' ? [callPart(item, results, now)] : partsOf(item['content']);
    const last = messages.at(-1);
    if (role === 'assistant' && isOpen && last) last.parts.push(...parts);
    else messages.push({ role, parts });
    isOpen = role === 'assistant';
  }
  return messages;
}

function callPart(call: JsonObject, results: ReadonlyMap<unknown, string>, now: number): JsonObject {
  const { call_id: callID = null, name: tool = null, arguments: json } = call;
  const output = results.get(callID) ?? '';
  const state = {
    status: 'completed',
    input: inputOf(json),
    output,
    title: '',
    metadata: {},
    time: { start: now, end: now },
  };
  return { type: 'tool', callID, tool, state };
}

/** Parses a call's arguments. Some models write arguments that are not a JSON object; these are put into one. */
function inputOf(json: unknown): JsonObject {
  try {
    const input: unknown = JSON.parse(String(json));
    return isJsonObject(input) ? input : { value: String(json) };
  } catch {
    return { value: String(json) };
  }
}

function textOf(output: unknown): string {
  if (!Array.isArray(output)) return String(output);
  return output
    .flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n');
}

function partsOf(content: unknown): JsonObject[] {
  return (Array.isArray(content) ? content : []).filter(isJsonObject).map((part) => {
    const { text, image_url: image, file_data: file } = part;
    const url = part['type'] === 'input_image' ? image : part['type'] === 'input_file' ? file : undefined;
    if (typeof url !== 'string') return { type: 'text', text: text ?? '' };
    return { type: 'file', mime: /^data:([^;,]*)/.exec(url)?.[1] ?? '', url };
  });
}
